"""The client: enqueue, look, wait, cancel, retry. One class for trio and for asyncio; it runs no jobs.

A module for each section, so that none grows without end; `Client` in `opening` is made of them.
"""

from leasehold.client.opening import Client, open_client

__all__ = ["Client", "open_client"]
