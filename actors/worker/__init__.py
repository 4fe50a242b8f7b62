"""A worker process: its actors put together, its row in the registry, commands for it, and what holds it back.

`run.py` comes in. Start in `worker.py`.
"""
