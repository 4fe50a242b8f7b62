"""The Postgres roles of `roles`, as SQL: made, and given what their trade needs and nothing else.

A function that a role may call runs with the rights of the owner (SECURITY DEFINER), so that no producer and no worker
needs a right on a table: what it can do is what the functions let it do. All of them look names up in a fixed place, and
the clock that tests freeze does not heed a caller with other rights than theirs. Replacing a function takes these rights
away; `leasehold migrate` gives them again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from leasehold.access.roles import (
    EVERYBODY,
    FUNCTIONS,
    INCLUDES,
    PURPOSES,
    QUERY_FUNCTIONS,
    ROLE_NAMES,
    SCALER_VIEWS,
    SECRET_COLUMNS,
    public_functions,
)
from leasehold.errors import BadInput
from leasehold.sql import read_folder

DEFAULT_PREFIX = "leasehold_"


def find_prefix() -> str:
    """The query that tells the prefix of the roles that are in force; no row where none are."""
    return _text("find_prefix")


def look() -> str:
    """The query for every function, whose rights it has, and which of the roles $1 may call it."""
    return _text("look")


def emit_grants(prefix: str = DEFAULT_PREFIX) -> str:
    """All of it as one script, in one transaction: for a superuser, or the schema's owner if it may make roles.

    Doing it again changes nothing. Always the same text.

    Args:
        prefix: what the names of the roles begin with; roles belong to the whole server, so that two installations on
            one server need two prefixes. Raises BadInput where it could not begin a name.
    """
    parts = [
        "-- leasehold: its roles and what each may do. Log in as members of them:",
        f"--     create role shop login password '...' in role {prefix}producer;",
        "begin;",
        "select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('leasehold.migrate', 0));",
        "set local search_path = pg_catalog;",
        "set local lock_timeout = '10s';",
        emit_roles(prefix),
        emit_rights(prefix),
        "commit;\n",
    ]
    return "\n".join(parts)


def emit_roles(prefix: str = DEFAULT_PREFIX) -> str:
    """The roles themselves, who is a member of whom, and the owner of the schema."""
    check_prefix(prefix)
    parts = [_text("make_role", role=prefix + role, purpose=PURPOSES[role]) for role in ROLE_NAMES]
    parts += [f"grant {prefix}{part} to {prefix}{role};" for role, included in INCLUDES.items() for part in included]
    return "\n".join([*parts, _text("give_schema", owner=prefix + "owner")])


def emit_rights(
    prefix: str = DEFAULT_PREFIX, functions: Collection[str] | None = None, overloaded: Collection[str] | None = None
) -> str:
    """What each role owns and may do, for roles that are there; also what `migrate` repeats after it changed something.

    Args:
        functions: those that the schema has; by default the ones of this installation.
        overloaded: those of them that it has with several signatures; by default as in this installation.
    """
    check_prefix(prefix)
    former = {name.partition("__")[0] for name in read_folder("former")}
    there = former.union(read_folder("functions")) if functions is None else set(functions)
    several = former if overloaded is None else set(overloaded)
    everybody = ", ".join(prefix + role for role in ROLE_NAMES)
    owner = prefix + "owner"
    parts = [_text("own", owner=owner, query_functions=",".join(sorted(QUERY_FUNCTIONS)))]
    parts += [
        f"revoke all on all {what} in schema leasehold from public, {everybody};"
        for what in ("tables", "sequences", "functions")
    ]
    parts += [f"revoke all on schema leasehold from public, {everybody};", f"grant all on schema leasehold to {owner};"]
    parts += [
        f"grant all on all {what} in schema leasehold to {owner};" for what in ("tables", "sequences", "functions")
    ]
    parts += [f"alter default privileges for role {owner} revoke execute on functions from public;"]
    parts += [f"grant usage on schema leasehold to {everybody};"]
    parts += [f"grant select on leasehold.schema_migrations, leasehold.schema_repeatables to {everybody};"]
    parts += _run_as_owner(there, several)
    parts += _give_to_query(prefix, sorted(QUERY_FUNCTIONS & there))
    parts += _grant_functions(prefix, there, several)
    return "\n".join([*parts, _let_read(prefix)])


def check_prefix(prefix: str) -> None:
    """Raises BadInput for what cannot stand unquoted at the head of the name of a role."""
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,40}", prefix) or prefix.startswith("pg_"):
        raise BadInput(f"{prefix!r} cannot begin the name of a role; use lower case letters, digits and _, as in shop_")


def _grant_functions(prefix: str, there: set[str], several: set[str]) -> Iterable[str]:
    everybody = ", ".join(prefix + role for role in ROLE_NAMES)
    yield from _grant(EVERYBODY & there, everybody, several)
    for role, functions in FUNCTIONS.items():
        yield from _grant(functions & there, prefix + role, several)


def _grant(functions: frozenset[str], roles: str, several: set[str]) -> Iterable[str]:
    if functions - several:
        yield f"grant execute on function {_names(functions - several)} to {roles};"
    if functions & several:
        yield _each_overload(functions & several, f"grant execute on function %s to {roles}")


def _run_as_owner(there: set[str], several: set[str]) -> Iterable[str]:
    public = public_functions() & there
    for name in sorted(public - several):
        yield f"alter function leasehold.{name} security definer;"
    if public & several:
        yield _each_overload(public & several, "alter function %s security definer")


def _each_overload(functions: Collection[str], statement: str) -> str:
    """The statement for each function of these names, of which there are several."""
    return _text("each_overload", names=",".join(sorted(functions)), statement=statement)


def _give_to_query(prefix: str, names: Iterable[str]) -> Iterable[str]:
    query = prefix + "query"
    for name in names:
        yield f"grant create on schema leasehold to {query};"
        yield f"alter function leasehold.{name} owner to {query};"
        yield f"revoke create on schema leasehold from {query};"
        yield f"grant execute on function leasehold.{name} to {prefix}owner;"


def _let_read(prefix: str) -> str:
    """Views and tables for readers, without the secret columns; the scaler's views."""
    secret = ", ".join(f"('{table}', '{column}')" for table, columns in SECRET_COLUMNS.items() for column in columns)
    return _text("let_read", secrets=secret, prefix=prefix, views=",".join(SCALER_VIEWS))


def _text(name: str, **values: str) -> str:
    """A file of `sql/grants/` with its @names@ filled in."""
    text = read_folder("grants")[name]
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def _names(functions: Iterable[str]) -> str:
    return ", ".join(f"leasehold.{name}" for name in sorted(functions))
