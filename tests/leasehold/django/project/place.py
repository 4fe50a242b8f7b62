"""Where the database of the project is."""

from __future__ import annotations

import os


def dsn() -> str:
    """Its connection string."""
    return os.environ["SHOP_DSN"]
