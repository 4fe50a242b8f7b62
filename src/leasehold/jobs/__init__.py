"""Jobs as values: what a producer says, what a handler sees, what a kind is, and how jobs become JSON for SQL.

Everybody above may come in; nothing here talks to the database by itself. Start in `producing/new_job.py`, then `handling/job.py`.
"""
