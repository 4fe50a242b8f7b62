"""A shop that takes money exactly once, from a payment provider that fails in every way it can.

    python -m examples.order_payment

`handlers.py` is what to copy: the payment, its booking and the next job are one commit; `orm.py` does the same over
SQLAlchemy. `provider.py` is the flaky provider, `__main__.py` kills a worker amid a booking, cuts leases and counts the money.
"""

from contextlib import suppress

from .handlers import app

with suppress(ImportError):  # SQLAlchemy or psycopg is not installed
    from . import orm

    app.merge(orm.app)

__all__ = ["app"]
