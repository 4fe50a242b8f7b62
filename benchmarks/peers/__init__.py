"""`python -m benchmarks peers`: other job queues on Postgres beside ours, on one machine, in turns.

`contestants.py` says who takes part, with which settings and why those; `programs/` has one small program for each, all with
the same command line: DSN ACTION [COUNT [TASKS]]. `installing.py` gives each an environment of its own, `racing.py` runs them,
`table.py` reckons and prints. Nothing here is a dependency of the project. Start with `race.py`.
"""
