"""What keeps the tables in order: the reaper, the janitor, the accountant, due jobs, and the scheduler of ticks.

`run.py` imports this package. They hold no state: any number of each may run. Start in `reaper.py` or `scheduler.py`.
"""
