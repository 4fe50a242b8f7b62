"""A worker process: its actors put together, its row in the registry, commands for it, and what holds it back.

`run.py` imports this package. Start in `worker.py`.
"""
