"""A database in which the roles of `leasehold grants` are in force, and logins for each of them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import trio

from leasehold.access.roles import ROLE_NAMES
from leasehold.database.migrations import apply_grants
from tests.support.servers import Server, new_database, psql_on


class Roles:
    """`dsn("producer")` logs in as a user that is a member of that role and nothing else."""

    def __init__(self, dsn: str, prefix: str) -> None:
        self.owner_dsn = dsn
        self.prefix = prefix

    def login(self, role: str) -> str:
        return f"{self.prefix}{role}_login"

    def dsn(self, role: str) -> str:
        scheme, _, rest = self.owner_dsn.partition("://")
        return f"{scheme}://{self.login(role)}@{rest.rpartition('@')[2]}"


@contextmanager
def database_with_roles(server: Server, template: str, prefix: str) -> Generator[Roles]:
    """A database of its own; its roles, which belong to the whole server, are dropped with it."""

    def as_superuser(sql: str) -> None:
        psql_on(server.psql, server.dsn(), sql)

    names = [*ROLE_NAMES, *(f"{each}_login" for each in ROLE_NAMES), "stranger_login"]
    try:
        with new_database(server, template, prefix + "db") as dsn:
            roles = Roles(dsn, prefix)
            trio.run(apply_grants, dsn, prefix)
            logins = [f"create role {roles.login(each)} login in role {prefix}{each};" for each in ROLE_NAMES]
            as_superuser("".join([*logins, f"create role {roles.login('stranger')} login;"]))
            yield roles
    finally:
        as_superuser("".join(f"drop role if exists {prefix}{each};" for each in reversed(names)))
