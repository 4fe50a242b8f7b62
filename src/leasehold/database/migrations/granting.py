"""Bringing the roles of `sql/roles.sql` into force, and keeping them in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leasehold.access.roles import emit_grants

if TYPE_CHECKING:
    from leasehold.database import Caller, Transaction

PREFIX = """
select left(o.rolname, -5)::text as prefix from pg_catalog.pg_namespace n join pg_catalog.pg_roles o on o.oid = n.nspowner
 where n.nspname = 'leasehold' and o.rolname like '%owner'
   and exists (select from pg_catalog.pg_roles p where p.rolname = left(o.rolname, -5) || 'producer')
"""
UNREADABLE = """
select exists (select from pg_catalog.pg_class c
                where c.relnamespace = 'leasehold'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
                  and not has_any_column_privilege($1, c.oid, 'select')) as some
"""


async def apply_grants(session: Transaction, prefix: str) -> None:
    """Make the roles and give them their rights, in the caller's transaction. Raises BadInput, QueryRefused."""
    await session.execute(emit_grants(prefix).partition("begin;")[2].rpartition("commit;")[0])


async def find_prefix(session: Caller) -> str | None:
    """The prefix of the roles that are in force in this database; None where none are."""
    rows = await session.fetch(PREFIX)
    return rows[0]["prefix"] if rows else None


async def keep_rights(session: Transaction, *, is_changed: bool) -> None:
    """Give the rights again that replaced functions have lost, and those to new tables; nothing where no roles are in force.

    Args:
        is_changed: False: only if a run that made a table was killed before it came here.
    """
    prefix = await find_prefix(session)
    if prefix is not None and (is_changed or (await session.fetch(UNREADABLE, prefix + "reader"))[0]["some"]):
        await session.execute("do $do$" + emit_grants(prefix).partition("do $do$")[2].rpartition("commit;")[0])
