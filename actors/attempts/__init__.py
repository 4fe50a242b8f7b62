"""One attempt at a job, from its claim to its outcome: the held job, its progress, how it ended, who is told.

All other packages of the actors use these values. Start in `held_job.py`.
"""
