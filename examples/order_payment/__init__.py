"""A shop that books each payment exactly once, although its payment provider fails in every way.

    python -m examples.order_payment

`handlers.py` is what to copy: the payment, its booking and the next job are one commit; `orm.py` does the same over
SQLAlchemy. `provider.py` is the flaky provider. `__main__.py` kills a worker during a booking, ends leases early and
counts the money.
"""

from contextlib import suppress

from .handlers import app

with suppress(ImportError):  # SQLAlchemy or psycopg is not installed
    from . import orm

    app.merge(orm.app)

__all__ = ["app"]
