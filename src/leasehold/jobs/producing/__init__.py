"""What a producer says: a new job and its options, and which jobs count as the same. Start in `new_job.py`."""
