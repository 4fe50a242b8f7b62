"""Bringing the roles of `leasehold.access.grants` into force, keeping them in force, and telling whether they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from leasehold.access import grants
from leasehold.access.grants import emit_rights, emit_roles
from leasehold.access.roles import (
    QUERY_FUNCTIONS,
    ROLE_NAMES,
    SECRET_COLUMNS,
    RoleName,
    functions_of,
    public_functions,
)
from leasehold.database.migrations.catalogue import Catalogue

if TYPE_CHECKING:
    from leasehold.database import Caller, Transaction

LOCK = """
select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('leasehold.migrate', 0));
set local search_path = pg_catalog; set local lock_timeout = '10s'; set local client_min_messages = warning;
"""
UNREADABLE = """
select exists (select from pg_catalog.pg_class c
                where c.relnamespace = 'leasehold'::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and c.relname <> all ($2)
                  and not has_table_privilege($1, c.oid, 'select')) as some
"""
OVERLOADED = r"""
select n.name from (select regexp_replace(proname, '_aside_\d+$', '') as name
                      from pg_catalog.pg_proc where pronamespace = 'leasehold'::regnamespace) n
 group by n.name having count(*) > 1
"""


class GrantsState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the roles are in force: their prefix (None: nobody applied them), and what is not as it should be."""

    prefix: str | None
    differing: tuple[str, ...] = ()


async def apply_grants(session: Transaction, prefix: str) -> None:
    """Make the roles and give them their rights, in the caller's transaction. Raises BadInput, QueryRefused."""
    await session.execute(LOCK)
    await session.execute(emit_roles(prefix))
    await session.execute(emit_rights(prefix))


async def find_prefix(session: Caller) -> str | None:
    """The prefix of the roles that are in force in this database; None where none are."""
    rows = await session.fetch(grants.find_prefix())
    return rows[0]["prefix"] if rows else None


async def keep_rights(session: Transaction, catalogue: Catalogue, *, is_changed: bool) -> None:
    """Give the rights again that replaced functions have lost, and those to new tables; nothing where no roles are in force.

    Args:
        is_changed: False: only if a run that made a table was killed before it came here.
    """
    prefix = await find_prefix(session)
    if prefix is None:
        return
    if is_changed or (await session.fetch(UNREADABLE, prefix + "reader", list(SECRET_COLUMNS)))[0]["some"]:
        # Of several functions with one name, each gets the rights; those that are set aside have them until they go.
        rows = await session.fetch(OVERLOADED)
        await session.execute(emit_rights(prefix, catalogue.functions, {row["name"] for row in rows}))


async def grants_state(session: Caller) -> GrantsState:
    """Compare the rights to functions in a database with the table in `leasehold.access.roles`; changes nothing."""
    prefix = await find_prefix(session)
    if prefix is None:
        return GrantsState(prefix=None)
    roles: dict[str, RoleName] = {prefix + role: role for role in ROLE_NAMES if role not in ("owner", "query")}
    differing: list[str] = []
    for row in await session.fetch(grants.look(), list(roles)):
        name = row["name"]
        wanted = {full for full, role in roles.items() if name in functions_of(role)}
        found = set(row["roles"])
        differing += [f"{role} cannot call {name}" for role in sorted(wanted - found)]
        differing += [f"{role} can call {name}" for role in sorted(found - wanted)]
        if row["is_public"]:
            differing.append(f"everybody can call {name}")
        if row["as_owner"] != (name in public_functions()):
            differing.append(f"{name} runs with the rights of its {'owner' if row['as_owner'] else 'caller'}")
        owner = prefix + ("query" if name in QUERY_FUNCTIONS else "owner")
        if row["owner"] != owner:
            differing.append(f"{name} belongs to {row['owner']}, not {owner}")
    return GrantsState(prefix=prefix, differing=tuple(differing))
