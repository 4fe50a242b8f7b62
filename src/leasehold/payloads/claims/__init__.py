"""Large args and outputs: the payload store has the value, the row of the job a claim check with a summary.

Clients, workers and the gateway come in. `check.py` says what stands in the row; start with `locker.py`, which puts values away
and fetches them. Why it is so: docs/decisions/0030.
"""
