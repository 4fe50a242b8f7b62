"""Getting jobs and keeping them: the dispatcher claims, the reconciler compares, the keeper renews all leases.

The worker imports this package. Start in `dispatcher.py`, then `keeper.py`; docs/leases.md has the protocol.
"""
