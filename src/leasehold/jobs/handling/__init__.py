"""What a handler sees: its job, the transactions it gets, and the ways in which it may end. Start in `job.py`."""
