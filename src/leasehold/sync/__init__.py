"""The client for programs that do not await: `leasehold.sync.Client`. It runs no jobs.

It works on connections of its own (psycopg, from `pip install 'leasehold[psycopg]'`) and on yours, of psycopg, SQLAlchemy or
Django. What it asks is what the awaited client asks (`leasehold.asks`). Start with `client.py`. Nobody else comes in.
"""

from leasehold.sync.client import SyncClient as Client
from leasehold.sync.core import SyncEnqueueMiddleware as EnqueueMiddleware
from leasehold.sync.core import SyncEnqueueNext as EnqueueNext

__all__ = ["Client", "EnqueueMiddleware", "EnqueueNext"]
