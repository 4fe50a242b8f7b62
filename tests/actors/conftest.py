from __future__ import annotations

from tests.support.reused import database_url, reused_database_url

__all__ = ["database_url", "reused_database_url"]
