"""Views and functions, each replaced whole, in one transaction.

What is replaced by something else than itself is set aside under another name instead of dropped: a session that has just
looked a function up would fail with "cache lookup failed". It is dropped when all transactions of that moment have ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from leasehold.database.migrations.catalogue import Catalogue, Key, Repeatable, made_by
from leasehold.database.migrations.state import Applied, read_existing
from leasehold.database.migrations.steps import attempt, named, run_named, sqlstate_of

if TYPE_CHECKING:
    from leasehold.database import Transaction

STILL_NEEDED = "2BP01"
CANNOT_REPLACE = {"42P13", "42P16"}  # another return type or parameter name; other columns of a view
ASIDE = "_aside_"

FUNCTIONS_ASIDE = r"""
select p.oid::regprocedure::text as name, c.oid is not null as answers_view
  from pg_catalog.pg_proc p left join pg_catalog.pg_class c on c.reltype = p.prorettype and c.relkind = 'v'
 where p.pronamespace = 'leasehold'::regnamespace and p.proname ~ '_aside_\d+$' order by 1
"""
VIEWS_ASIDE = r"""
select oid::regclass::text as name from pg_catalog.pg_class
 where relnamespace = 'leasehold'::regnamespace and relkind = 'v' and relname ~ '_aside_\d+$' order by 1
"""
OVERLOADS = """
select oid::bigint as id, oid::regprocedure::text as signature, ctid::text as version from pg_catalog.pg_proc
 where pronamespace = 'leasehold'::regnamespace and proname = $1
"""


class Overload(msgspec.Struct, frozen=True):
    """One function of a name. Making one again gives it a new row version."""

    id: int
    signature: str
    version: str


class Functions:
    """Brings views and functions from what was applied to what is wanted."""

    def __init__(self, session: Transaction, wanted: Catalogue, applied: Applied) -> None:
        self._session = session
        self._wanted = wanted
        self._applied = applied
        self._stale: set[str] = set()

    async def apply(self) -> list[Repeatable]:
        """Do it; what was made."""
        surplus = [(key, made_by(*key)) for key in find_surplus(self._wanted, self._applied)]
        wanted = {item.made for item in self._wanted.repeatables}
        changed = [
            item.made for item in self._wanted.repeatables if item.kind == "former" and self._applied.lacks(item)
        ]
        # Nobody writes down which overload a former signature is: it goes when its function is made again.
        self._stale = {name for (kind, _), (_, name) in surplus if kind == "former"} | {name for _, name in changed}
        for name in [made[1] for (kind, _), made in surplus if kind == "function" and made in wanted]:
            await self._set_function_aside(name)
        # What changed may need what is surplus dropped first, or may be what still needs it: hence before and after.
        gone = sorted({made for _, made in surplus} - wanted)
        needed = [key for key in gone if not await self._drop_unless_needed(key)]
        made = await self._make_all()
        await self._refuse_to_drop_for_others(needed)
        for key in needed:
            await self._set_aside(key)
        for (kind, name), _ in surplus:
            await self._session.fetch(
                "delete from leasehold.schema_repeatables where (kind, name) = ($1, $2)", kind, name
            )
        return made

    async def _make_all(self) -> list[Repeatable]:
        made: list[Repeatable] = []
        present = msgspec.structs.replace(self._applied, existing=await read_existing(self._session))
        for item in self._wanted.repeatables:
            if not present.lacks(item) and item.made[1] not in self._stale:
                continue
            if not await self._replace(item):
                present = msgspec.structs.replace(present, existing=await read_existing(self._session))
            made.append(item)
            await self._session.fetch(
                "insert into leasehold.schema_repeatables (kind, name, checksum) values ($1, $2, $3) "
                "on conflict (kind, name) do update set checksum = excluded.checksum, applied_at = default",
                item.kind,
                item.name,
                item.checksum,
            )
        return made

    async def _replace(self, item: Repeatable) -> bool:
        """Make or replace it; False if others had to make room for it, which are now to be made again."""
        before = await self._overloads(item.made[1])
        error = await attempt(self._session, item.text)
        if error is None:
            if item.kind == "function":
                # What the statement left alone are the functions with former parameters.
                await self._set_function_aside(item.name, before)
            return True
        if sqlstate_of(error) not in CANNOT_REPLACE or item.kind == "former":
            raise named(item.title, error) from error
        in_the_way = [*self._wanted.dependents(item.name), item]
        await self._refuse_to_drop_for_others([other.made for other in in_the_way])
        for other in in_the_way:
            await self._set_aside(other.made)
        await run_named(self._session, item.title, item.text)
        return False

    async def _refuse_to_drop_for_others(self, keys: list[Key]) -> None:
        """What users built on a view of ours must not go on with one that was set aside."""
        if keys:
            await self._session.execute("savepoint trial")
            await drop_what_was_set_aside(self._session)
            for kind, name in keys:
                await self._drop(kind, name)
            await self._session.execute("rollback to savepoint trial")

    async def _set_aside(self, key: Key) -> None:
        kind, name = key
        if kind == "function":
            await self._set_function_aside(name)
            return
        rows = await self._session.fetch("select to_regclass($1)::oid::bigint as id", f"leasehold.{name}")
        if rows[0]["id"] is not None:
            aside = f"{name}{ASIDE}{rows[0]['id']}"
            await run_named(self._session, f"view {name}", f"alter view leasehold.{name} rename to {aside}")

    async def _set_function_aside(self, name: str, unless_new: set[Overload] | None = None) -> None:
        """All functions of a name, or those of them that were there before. Its former signatures are made again."""
        overloads = await self._overloads(name)
        for each in overloads if unless_new is None else overloads & unless_new:
            statement = f"alter function {each.signature} rename to {name}{ASIDE}{each.id}"
            await run_named(self._session, f"function {name}", statement)
        self._stale.add(name)

    async def _drop_unless_needed(self, key: Key) -> bool:
        kind, name = key
        statements = [f"drop function {each.signature}" for each in await self._overloads(name)]
        if kind == "view":
            statements.append(f"drop view if exists leasehold.{name}")
        error = await attempt(self._session, "; ".join(statements)) if statements else None
        if error is not None and sqlstate_of(error) != STILL_NEEDED:
            raise named(f"dropping {kind} {name}", error) from error
        return error is None

    async def _drop(self, kind: str, name: str) -> None:
        if kind == "view":
            await run_named(self._session, f"dropping view {name}", f"drop view if exists leasehold.{name}")
        for each in await self._overloads(name):
            await run_named(self._session, f"dropping function {name}", f"drop function {each.signature}")

    async def _overloads(self, name: str) -> set[Overload]:
        rows = await self._session.fetch(OVERLOADS, name)
        return {Overload(row["id"], row["signature"], row["version"]) for row in rows}


def find_surplus(wanted: Catalogue, applied: Applied) -> list[Key]:
    """What we made once and that has no file any more."""
    return sorted(applied.repeatables.keys() - {item.key for item in wanted.repeatables})


async def drop_what_was_set_aside(session: Transaction) -> None:
    """Drop it, now that nobody uses it any more: functions that answer rows of a view before it, those that it calls after it."""
    functions = await session.fetch(FUNCTIONS_ASIDE)
    for what, rows in (
        ("function", [row for row in functions if row["answers_view"]]),
        ("view", await session.fetch(VIEWS_ASIDE)),
        ("function", [row for row in functions if not row["answers_view"]]),
    ):
        if rows:
            names = ", ".join(row["name"] for row in rows)
            await run_named(session, f"dropping former {what}s", f"drop {what} {names}")
