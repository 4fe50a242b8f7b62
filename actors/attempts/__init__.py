"""One attempt at a job, from claim to outcome: the held job, the line that it waits in, its progress, how it ended, who is told.

All other packages of the actors use these values. Start in `held_job.py`.
"""
