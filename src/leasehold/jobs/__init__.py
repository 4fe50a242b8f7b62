"""Jobs as values: new jobs and their options, the running job that a handler sees, kinds, and the JSON that SQL takes.

Every package above may import it; nothing here calls the database by itself. Start in `new_job.py`, then `job.py`.
"""
