"""The fault machine: a whole fleet under load and faults, a history of everything, and a checker that judges it.

`history/` is what happened, as records in one file. `checker/` judges a history and knows nothing else. `schedule/` decides which
faults come when, from a seed. `fleet/` is real processes on a Postgres of their own, behind proxies; `load/` is what they have
to do; `run/` puts all of it together. `model/` is the lease protocol, small enough to be explored whole. Start with
`run/machine.py`, or with `checker/judge.py`.
"""
