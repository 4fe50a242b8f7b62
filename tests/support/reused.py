"""A database that many tests use one after the other; making a new one for each would take most of their time."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg

from tests.support.emptied import DELETES, RESTARTS

# A function, whose plans the connection keeps. What earlier tests have left connected is sent away first. Schemas of users go
# with triggers that call functions in them; tables newer than `newest` are partitions of days that a test has frozen the
# clock at.
RENEW = f"""
create function pg_temp.renew(newest oid, kept text) returns bigint language plpgsql as $$
declare
    each text;
begin
    perform pg_terminate_backend(pid, 10000) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
       and application_name <> kept;
    {DELETES}
    {RESTARTS};
    for each in
        select n.nspname from pg_namespace n
         where n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'leasehold')
           and exists (select from pg_depend d where d.refclassid = 'pg_namespace'::regclass and d.refobjid = n.oid)
    loop
        execute format('drop schema %I cascade', each);
    end loop;
    if to_regnamespace('public') is null then
        create schema public;
    end if;
    if exists (select from pg_db_role_setting where setdatabase = (select oid from pg_database where datname = current_database()))
    then
        execute format('alter database %I reset all', current_database());
    end if;
    for each in
        select c.relname from pg_class c
         where c.relnamespace = 'leasehold'::regnamespace and c.relkind = 'r' and c.oid > newest
    loop
        execute format('drop table leasehold.%I', each);
    end loop;
    return (select count(*) from pg_class c where c.relnamespace = 'leasehold'::regnamespace and c.relkind = 'r');
end
$$
"""
NEWEST = "select max(oid), count(*) filter (where relkind = 'r') from pg_class where relnamespace = 'leasehold'::regnamespace"


class ReusedDatabase:
    """A migrated database, and a connection that stays: a new one reads the catalog anew, which takes longer than the rest."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._connection = self._connect()
        self._newest, self._tables = self._ask(NEWEST)

    def renew(self, kept: str = "") -> None:
        """Nobody else is connected but who has the name `kept`, there are no rows and no settings, ids start at 1, and nobody has
        made a table."""
        try:
            self._renew(kept)
        except psycopg.OperationalError:  # a test has ended every connection, or the server
            self._connection = self._connect()
            self._renew(kept)

    def close(self) -> None:
        self._connection.close()

    def _renew(self, kept: str) -> None:
        (tables,) = self._ask("select pg_temp.renew(%s, %s)", self._newest, kept)
        assert tables == self._tables, "a test before has dropped a table: let it take fresh_database_url"

    def _ask(self, statement: LiteralString, *values: object) -> tuple[Any, ...]:
        row = self._connection.execute(statement, values).fetchone()
        assert row is not None
        return row

    def _connect(self) -> psycopg.Connection:
        connection = psycopg.connect(self.dsn, autocommit=True, application_name="tests")
        connection.execute(RENEW)
        return connection


@contextmanager
def reused_database(dsn: str) -> Generator[ReusedDatabase]:
    """That database, until the end of the block."""
    database = ReusedDatabase(dsn)
    try:
        yield database
    finally:
        database.close()
