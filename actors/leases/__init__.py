"""Getting jobs and keeping them: the dispatcher claims, the backlog holds what no slot has taken, the keeper renews all leases.

The worker imports this package. Start in `dispatcher.py`, then `keeper.py`; docs/leases.md has the protocol.
"""
