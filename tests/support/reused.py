"""A database that many tests use one after the other; making a new one for each would take most of their time."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from tests.support.emptied import EMPTIED

# What earlier tests have left connected is sent away first. Schemas of users go with triggers that call functions in them.
AS_IF_NEW = f"""
select pg_terminate_backend(pid, 10000) from pg_stat_activity
 where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend';
{EMPTIED}
do $$
declare
    foreign_schema text;
begin
    for foreign_schema in
        select n.nspname from pg_namespace n
         where n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'leasehold')
           and exists (select from pg_depend d where d.refclassid = 'pg_namespace'::regclass and d.refobjid = n.oid)
    loop
        execute format('drop schema %I cascade', foreign_schema);
    end loop;
    create schema if not exists public;
    if exists (select from pg_db_role_setting where setdatabase = (select oid from pg_database where datname = current_database()))
    then
        execute format('alter database %I reset all', current_database());
    end if;
end
$$;
"""

NEWEST = "select max(oid) from pg_class where relnamespace = 'leasehold'::regnamespace"
COUNT = "select count(*) from pg_class where relnamespace = 'leasehold'::regnamespace and relkind = 'r'"
# Partitions of days that a test has frozen the clock at.
ADDED = "select relname from pg_class where relnamespace = 'leasehold'::regnamespace and relkind = 'r' and oid > %s"


class ReusedDatabase:
    """A migrated database, and a connection that stays: a new one reads the catalog anew, which takes longer than the rest."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._connection = self._connect()
        self._newest = self._connection.execute(NEWEST).fetchone()
        self._tables = self._connection.execute(COUNT).fetchone()

    def renew(self) -> None:
        """Nobody else is connected, there are no rows and no settings, ids start at 1, and nobody has made a table."""
        try:
            self._renew()
        except psycopg.OperationalError:  # a test has ended every connection, or the server
            self._connection = self._connect()
            self._renew()

    def close(self) -> None:
        self._connection.close()

    def _renew(self) -> None:
        self._connection.execute(AS_IF_NEW)
        for (table,) in self._connection.execute(ADDED, self._newest).fetchall():
            self._connection.execute(sql.SQL("drop table leasehold.{}").format(sql.Identifier(table)))
        found = self._connection.execute(COUNT).fetchone()
        assert found == self._tables, "a test before has dropped a table: let it take fresh_database_url"

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(self.dsn, autocommit=True, application_name="tests")


@contextmanager
def reused_database(dsn: str) -> Generator[ReusedDatabase]:
    """That database, until the end of the block."""
    database = ReusedDatabase(dsn)
    try:
        yield database
    finally:
        database.close()
