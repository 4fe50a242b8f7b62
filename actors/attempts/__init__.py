"""One attempt at a job, from its claim to its outcome: the held job, its time limits, how it ended, who is told.

All other rooms of the actors read these values. Start in `held_job.py`.
"""
