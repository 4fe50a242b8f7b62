"""What a handler uses: its job, its transactions, and the ways to end an attempt. Start in `job.py`."""
