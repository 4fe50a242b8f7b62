"""Getting jobs: the dispatcher claims, the backlog keeps what is claimed until a slot is free.

The worker imports this package. Start in `dispatcher.py`; what it decides is in `decisions.py`.
"""
