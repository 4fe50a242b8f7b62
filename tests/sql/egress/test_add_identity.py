from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_identities import add, take


async def test_adding_a_retired_one_brings_it_back_and_changes_it(database: Database) -> None:
    made = await add(database)
    await database.call("retire_identity", "one", "was slow")
    assert await add(database, proxy="http://proxy.example:3128", proxy_user="me", proxy_password="pw") == made
    taken = await take(database)
    assert (taken["proxy"], taken["proxy_user"], taken["proxy_password"]) == ("http://proxy.example:3128", "me", "pw")


async def test_the_audit_log_has_the_name_and_not_the_password(database: Database) -> None:
    await add(database, proxy="http://proxy.example", proxy_user="me", proxy_password="hunter2", added_by="ada")
    [row] = await database.fetch("select row_to_json(a)::text as told, actor from leasehold.audit_log a")
    assert row["actor"] == "ada"
    assert "hunter2" not in row["told"]


REFUSED: list[tuple[str, object]] = [
    ("name", "-a"),
    ("user_agent", "a\nb"),
    ("accept_language", ""),
    ("locale", "german"),
    ("time_zone", "Europe/Atlantis"),
    ("proxy", "http://me:pw@proxy.example:3128"),
    ("proxy", "ftp://proxy.example"),
    ("proxy_user", "me"),
    ("retire_after", 0),
    ("cool_seconds", 0.0),
    ("cool_seconds", None),
]


async def test_what_cannot_be_is_refused(database: Database) -> None:
    for field, value in REFUSED:
        with pytest.raises(BadInput):
            await add(database, **{field: value})  # pyright: ignore[reportArgumentType]
        assert await database.fetch("select from leasehold.egress_identities") == []
