"""A database that the tests of a folder use one after the other; making a new one for each would take most of their time.

Import the two fixtures into the folder's conftest.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.support.servers import Server, new_database, psql_on

# Not truncate, which makes new files for some hundred tables and indexes.
EMPTIED = """
delete from leasehold.jobs; delete from leasehold.finished_jobs; delete from leasehold.job_events;
delete from leasehold.idempotency_keys; delete from leasehold.queues; delete from leasehold.workers;
delete from leasehold.job_blockers; delete from leasehold.chain_waiters; delete from leasehold.unique_jobs;
delete from leasehold.unique_claims; delete from leasehold.limits; delete from leasehold.rate_buckets;
delete from leasehold.schedules; delete from leasehold.limit_turns; delete from leasehold.job_progress;
delete from leasehold.job_logs; delete from leasehold.worker_commands;
delete from leasehold.api_tokens; delete from leasehold.audit_log; delete from leasehold.schedule_ticks;
delete from leasehold.rollups; delete from leasehold.rollup_totals; delete from leasehold.rollup_progress;
delete from leasehold.rollup_marks; delete from leasehold.queue_depths; delete from leasehold.depth_counts;
select setval('leasehold.jobs_id_seq', 1, false); select setval('leasehold.worker_commands_id_seq', 1, false);
drop schema if exists public cascade; -- and triggers that call functions in it
create schema public;
-- What is small is counted on the spot: a table that an earlier test has blown up would not be small.
select format('truncate %s', c.oid::regclass) from pg_class c
 where c.relnamespace = 'leasehold'::regnamespace and c.relkind = 'r' and pg_relation_size(c.oid) > 1000000 \\gexec
"""


@pytest.fixture(scope="package")
def reused_database_url(
    postgres_server: Server, template_database: str, testrun_uid: str, worker_id: str
) -> Generator[str]:
    """The connection string of a migrated database."""
    with new_database(postgres_server, template_database, f"leasehold_{testrun_uid[:8]}_{worker_id}_reused") as dsn:
        yield dsn


@pytest.fixture
def database_url(postgres_server: Server, reused_database_url: str) -> str:
    """The connection string of a migrated database without any jobs, and with nothing in `public`."""
    psql_on(postgres_server.psql, reused_database_url, EMPTIED)
    return reused_database_url
