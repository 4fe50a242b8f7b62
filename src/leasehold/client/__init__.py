"""The client: enqueue, look, wait, cancel, retry. One class for trio and for asyncio; it runs no jobs.

`Client` in `client.py` has the calls that everybody uses; each group of the others has its noun in `nouns/`, as
`client.queues` or `client.schedules`. `core.py` is what all of them share. Programs, the gateway and the command line come in
by `Client` and `open_client`; actors do not come in. Start with `client.py`.
"""

from leasehold.client.client import Client, sources_of
from leasehold.client.opening import connect, open_client

__all__ = ["Client", "connect", "open_client", "sources_of"]
