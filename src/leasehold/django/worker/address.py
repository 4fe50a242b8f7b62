"""The address of a database of Django's, as leasehold takes it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

PASSED_ON = ("sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "sslpassword", "passfile", "target_session_attrs")
"""OPTIONS of a database that mean the same there. All others are for psycopg."""


def address(database: Mapping[str, Any]) -> str:
    """A Postgres URL from the settings of one of DATABASES. What is not said there, PG… variables and defaults say."""
    options: Mapping[str, Any] = database.get("OPTIONS") or {}
    asked = {name: str(options[name]) for name in PASSED_ON if options.get(name)}
    host, port = str(database.get("HOST") or ""), str(database.get("PORT") or "")
    if host.startswith("/"):  # the folder of a socket is no host of a URL
        asked |= {"host": host} | ({"port": port} if port else {})
        host = port = ""
    who = quote(str(database.get("USER") or ""), safe="")
    if database.get("PASSWORD"):
        who += f":{quote(str(database['PASSWORD']), safe='')}"
    where = f"[{host}]" if ":" in host else host
    place = f"{who}@{where}" if who else where
    place += f":{port}" if port else ""
    query = f"?{urlencode(asked)}" if asked else ""
    return f"postgresql://{place}/{quote(str(database.get('NAME') or ''), safe='')}{query}"
