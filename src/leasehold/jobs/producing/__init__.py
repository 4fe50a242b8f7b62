"""What a producer uses: a new job, its options, and the rule by which two jobs count as the same. Start in `new_job.py`."""
