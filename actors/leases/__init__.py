"""Keeping jobs: the lease keeper renews all leases of a worker, a sibling watches one running job.

The worker imports this package. Start in `keeper.py`; docs/leases.md has the protocol.
"""
