"""Which Postgres role may call which SQL function: the table in `sql/roles.sql`, and that script with another prefix.

A role may call what stands in its row and in the rows of the roles it includes. What stands in no row is called by other
functions only, and by no role.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal, cast, get_args

import msgspec

from leasehold.errors import BadInput
from leasehold.sql import read_folder, read_text

RoleName = Literal["owner", "producer", "waiter", "worker", "maintainer", "reader", "operator", "scaler", "query"]

ROLE_NAMES: tuple[RoleName, ...] = get_args(RoleName)
DEFAULT_PREFIX = "leasehold_"
EVERYBODY = frozenset({"clock"})
"""What every role may call; it runs with the caller's rights."""
PLAIN = frozenset({"is_alive"})
"""What runs with the caller's rights although it stands in rows: it becomes part of the query that asks."""
_ROW = re.compile(r"^ +\('(\w+)', '([^']*)', '([\w ]*)',\s+'([\w\s]*)'\)", re.MULTILINE)


class RoleRights(msgspec.Struct, frozen=True):
    """A row of the table: what the role is for, which roles it is a member of, and which functions it may call besides."""

    purpose: str
    includes: tuple[RoleName, ...]
    calls: frozenset[str]


@cache
def read_roles() -> Mapping[RoleName, RoleRights]:
    """The table."""
    return {
        cast("RoleName", name): RoleRights(
            purpose, cast("tuple[RoleName, ...]", tuple(includes.split())), frozenset(calls.split())
        )
        for name, purpose, includes, calls in _ROW.findall(read_text("roles.sql"))
    }


def functions_of(role: RoleName) -> frozenset[str]:
    """Everything that a role may call, with what it gets from the roles it includes. The owner may call all there is."""
    row = read_roles()[role]
    return (row.calls | EVERYBODY).union(*map(functions_of, row.includes))


def public_functions() -> frozenset[str]:
    """Those that stand in a row. But for PLAIN, they run with the rights of their owner for every caller."""
    return frozenset[str]().union(*(each.calls for each in read_roles().values()))


def internal_functions() -> frozenset[str]:
    """Those that only other functions call."""
    return frozenset(read_folder("functions")) - public_functions() - EVERYBODY


def emit_grants(prefix: str = DEFAULT_PREFIX) -> str:
    """`sql/roles.sql`, with this at the head of the names of the roles. Raises BadInput for what could not stand there."""
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,40}", prefix) or prefix.startswith("pg_"):
        raise BadInput(f"{prefix!r} cannot begin the name of a role; use lower case letters, digits and _, as in shop_")
    return re.sub(r"\bleasehold_(?=';|producer;)", prefix, read_text("roles.sql"))
