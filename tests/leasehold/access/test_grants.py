"""The roles, each logged in with for real: what it may do, and what it may not."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from leasehold.access.roles import ROLE_NAMES, RoleName, emit_grants, functions_of
from leasehold.database import Database, Transaction, open_database
from leasehold.database.migrations import apply_grants, find_prefix, migrate
from leasehold.database.migrations.state import Drift, compare_descriptions, describe_schema
from leasehold.errors import BadInput, LeaseholdError, QueryRefused
from tests.conftest import Psql
from tests.support.processes import StartProcess
from tests.support.roles import Roles, database_with_roles
from tests.support.servers import Server
from tests.support.sql_unique import enqueue_unique
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE

# One process of pytest-xdist takes them all: the database with its roles is made once.
pytestmark = pytest.mark.xdist_group("roles")
ROOT = Path(__file__).parents[3]
REFUSED = "42501"
TRADES: tuple[RoleName, ...] = tuple(each for each in ROLE_NAMES if each != "owner")
RELATIONS = """
select c.relname::text as name, c.relkind::text as kind from pg_class c
 where c.relnamespace = 'leasehold'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S') order by 1
"""
LOOK = "select * from leasehold.{} limit 0"
WRITES = {
    "insert": "insert into leasehold.{} default values",
    "delete": "delete from leasehold.{} where false",
    "truncate": "truncate leasehold.{}",
    "lock": "lock table leasehold.{} in row exclusive mode",
    "alter": "comment on table leasehold.{} is ''",
}
WRITES_BY_KIND = {
    "S": {"insert": "select nextval('leasehold.{}')", "truncate": "select setval('leasehold.{}', 1)"},
    "v": {"lock": WRITES["lock"]},  # nobody can write to one, whatever rights they have
}
# Postgres never gets as far as a strict function whose arguments are all null, nor as one that is a trigger; those are asked
# about instead.
SIGNATURES = """
select p.proname::text as name, p.proisstrict or p.prorettype = 'trigger'::regtype as is_out_of_reach, p.oid,
       coalesce((select string_agg('null::' || format_type(t, null), ', ' order by n)
                   from unnest(p.proargtypes::oid[]) with ordinality a(t, n)), '') as nulls
  from pg_proc p where p.pronamespace = 'leasehold'::regnamespace order by 1
"""
MAY = "select oid, has_function_privilege(oid, 'execute') as may from unnest($1::oid[]) oid"
TRIED = """
create function pg_temp.tried(statements text[]) returns text[] language plpgsql as $$
declare
    each     text;
    outcomes text[] := '{}';
begin
    foreach each in array statements loop
        begin
            execute each;
            raise sqlstate 'UNDO0';
        exception when others then
            outcomes := outcomes || nullif(sqlstate, 'UNDO0');
        end;
    end loop;
    return outcomes;
end
$$
"""


@pytest.fixture(scope="module")
def roles(postgres_server: Server, template_database: str, testrun_uid: str, worker_id: str) -> Generator[Roles]:
    with database_with_roles(postgres_server, template_database, f"t{testrun_uid[:8]}_{worker_id}_") as roles:
        yield roles


@pytest.fixture
def login(roles: Roles) -> Callable[[str], AbstractAsyncContextManager[Database]]:
    return lambda role: open_database(roles.dsn(role), pool_size=1)


@asynccontextmanager
async def refused() -> AsyncGenerator[None]:
    with pytest.raises(QueryRefused) as caught:
        yield
    assert caught.value.sqlstate == REFUSED


@pytest.mark.parametrize("role", [*TRADES, "stranger"])
async def test_a_role_may_call_the_functions_of_its_trade_and_no_others(
    roles: Roles, login: Callable[[str], AbstractAsyncContextManager[Database]], role: str
) -> None:
    """Each is really called, with nulls, and taken back; one that lacks a right further in fails here, too."""
    allowed = functions_of(role) if role in ROLE_NAMES else frozenset[str]()
    allowed |= {"read_schedule_rows"} if role == "query" else set[str]()  # it owns it
    async with open_database(roles.owner_dsn) as database:
        functions = await database.fetch(SIGNATURES)
    calls = {
        row["oid"]: f"select leasehold.{row['name']}({row['nulls']})" for row in functions if not row["is_out_of_reach"]
    }
    async with login(role) as database, database.transaction() as transaction:
        answers = await sqlstates(transaction, [*calls.values()])
        may = {oid: answer != REFUSED for oid, answer in zip(calls, answers, strict=True)}
        for row in await transaction.fetch(MAY, [row["oid"] for row in functions if row["is_out_of_reach"]]):
            may[row["oid"]] = row["may"]
    assert {row["name"] for row in functions if may[row["oid"]]} == allowed


@pytest.mark.parametrize("role", [*TRADES, "stranger"])
async def test_only_readers_may_look_into_tables_and_nobody_may_write_to_one(
    roles: Roles, login: Callable[[str], AbstractAsyncContextManager[Database]], role: str
) -> None:
    """Each statement is really sent, and refused for want of a right before anything else could be wrong with it."""
    async with open_database(roles.owner_dsn) as database:
        relations = [(row["name"], row["kind"]) for row in await database.fetch(RELATIONS)]
    asked = [
        (verb, name, statement.format(name))
        for name, kind in relations
        for verb, statement in {"select": LOOK, **WRITES_BY_KIND.get(kind, WRITES)}.items()
    ]
    may: dict[str, set[str]] = {verb: set() for verb in WRITES | {"select": ""}}
    async with login(role) as database, database.transaction() as transaction:
        answers = await sqlstates(transaction, [statement for _, _, statement in asked])
        for (verb, name, _), answer in zip(asked, answers, strict=True):
            if answer != REFUSED:
                may[verb].add(name)
        assert await sqlstate(transaction, "create table leasehold.mine (id int)") == REFUSED
    assert {verb: names for verb, names in may.items() if verb != "select" and names} == {}
    everything = {name for name, kind in relations if kind != "S"}
    books = {"schema_migrations", "schema_repeatables"}
    secret = {"api_tokens", "api_sessions", "egress_identities"}
    readable = {"reader": everything - secret, "operator": everything - secret}
    readable |= {"scaler": books | {"v_worker_capacity"}, "stranger": set()}
    assert may["select"] == readable.get(role, books)


async def test_only_who_may_wait_sees_the_output_of_a_chain(
    roles: Roles, login: Callable[[str], AbstractAsyncContextManager[Database]]
) -> None:
    async with open_database(roles.owner_dsn) as database:
        worker = SqlWorker(database)
        job_id = await database.call_value("enqueue_job", "secret", queue="secret")
        assert await worker.complete(await worker.claim(queues=["secret"]), [{"card": 4111}]) == {}
    async with login("producer") as producer, refused():
        await producer.call("watch_chains", [job_id])
    async with login("waiter") as waiter:
        [row] = await waiter.call("watch_chains", [job_id])
        assert row["output"] == '{"card": 4111}'
        async with refused():
            await waiter.call("enqueue_job", "echo")


async def test_a_producer_changes_only_unique_jobs_that_its_own_login_made(
    roles: Roles, login: Callable[[str], AbstractAsyncContextManager[Database]], psql: Psql
) -> None:
    another, friend = (f"{roles.prefix}{name}_login" for name in ("another", "friend"))
    mine = {"kind": "index", "args": {"by": "me"}, "unique": {"key": "document 5"}}
    psql(
        roles.owner_dsn,
        "".join(f"create role {each} login in role {roles.prefix}producer;" for each in (another, friend)),
    )
    psql(roles.owner_dsn, f"grant {roles.login('producer')} to {friend}")
    try:
        async with login("producer") as producer:
            [(job_id, _)] = await enqueue_unique(producer, mine)
            theirs = {**mine, "args": {"by": "them"}}
            dsns = {name: roles.dsn("producer").replace(roles.login("producer"), name) for name in (another, friend)}
            async with open_database(dsns[another]) as database:
                assert await enqueue_unique(database, theirs) == [(job_id, "existing")]
                for change in ("replace", "extend", "overwrite"):
                    with pytest.raises(
                        QueryRefused, match=f"job {job_id} has this unique key, login .* made it"
                    ) as caught:
                        await enqueue_unique(
                            database, {**theirs, "unique": {"key": "document 5", "on_conflict": change}}
                        )
                    assert caught.value.sqlstate == REFUSED
            assert await args_of(roles, job_id) == '{"by": "me"}'
            changing = {**theirs, "unique": {"key": "document 5", "on_conflict": "replace"}}
            for each in (dsns[friend], roles.dsn("worker"), roles.dsn("operator"), roles.dsn("producer")):
                async with open_database(each) as database:
                    assert await enqueue_unique(database, changing) == [(job_id, "replaced")]
            assert await args_of(roles, job_id) == '{"by": "them"}'
    finally:
        psql(roles.owner_dsn, f"drop role {another}; drop role {friend}")


async def args_of(roles: Roles, job_id: int) -> object:
    """The args of a job, as the owner sees them."""
    async with open_database(roles.owner_dsn) as database:
        return (await database.fetch("select args from leasehold.jobs where id = $1", job_id))[0][0]


async def sqlstates(transaction: Transaction, statements: list[str]) -> list[str | None]:
    """Of the errors that these statements get, each of which is taken back; tried at the server, for there are many."""
    await transaction.execute(TRIED)
    [row] = await transaction.fetch("select pg_temp.tried($1)", statements, timeout=PATIENCE)
    return row[0]


async def sqlstate(transaction: Transaction, statement: str) -> str | None:
    """Of the error that a statement gets; None where it gets none. It is taken back."""
    await transaction.execute("savepoint before")
    try:
        await transaction.fetch(statement)
    except LeaseholdError as error:
        return getattr(error.__cause__, "sqlstate", None)
    finally:
        await transaction.execute("rollback to savepoint before")
    return None


async def test_a_reader_sees_every_view_and_of_tokens_everything_but_the_hash(
    roles: Roles, login: Callable[[str], AbstractAsyncContextManager[Database]]
) -> None:
    async with open_database(roles.owner_dsn) as database:
        views = await database.fetch("select viewname::text from pg_views where schemaname = 'leasehold'")
    async with login("reader") as database:
        for row in views:
            await database.fetch(f"select * from leasehold.{row[0]} limit 1")
        await database.fetch("select name, scopes from leasehold.api_tokens")
        async with refused():
            await database.fetch("select hash from leasehold.api_tokens")


async def test_who_may_insert_the_columns_of_a_job_makes_plain_jobs_and_forges_none(
    login: Callable[[str], AbstractAsyncContextManager[Database]], roles: Roles, psql: Psql
) -> None:
    """As docs/jobs.md says it: no role of ours has this right; a login is given it."""
    columns = (
        "kind, args, queue, key, key_group, priority, run_at, max_attempts, timeout, deadline, traceparent, metadata"
    )
    grant = f"grant insert ({columns}), select (id) on leasehold.jobs to {roles.login('producer')}"
    psql(roles.owner_dsn, grant)
    try:
        async with login("producer") as producer, producer.transaction() as transaction:
            insert = "insert into leasehold.jobs (kind, args, queue) values ('echo', '{}', 'by hand') returning id"
            [row] = await transaction.fetch(insert)
            assert row["id"] > 0
            for forged in ("state", "attempt", "id", "incarnation", "created_at", "limited"):
                statement = f"insert into leasehold.jobs (kind, {forged}) values ('a', null)"
                assert await sqlstate(transaction, statement) == REFUSED, forged
            assert await sqlstate(transaction, "select args from leasehold.jobs") == REFUSED
            assert await sqlstate(transaction, "update leasehold.jobs set kind = 'b'") == REFUSED
    finally:
        psql(roles.owner_dsn, grant.replace("grant", "revoke").replace(" to ", " from "))


async def test_nobody_moves_the_clock_that_tests_freeze(
    login: Callable[[str], AbstractAsyncContextManager[Database]], roles: Roles
) -> None:
    async with login("producer") as producer, producer.transaction() as transaction:
        await transaction.execute("set leasehold.frozen_clock = '2001-01-01'")
        made = await transaction.call_value("enqueue_job", "echo", queue="clock")
    async with open_database(roles.owner_dsn) as database:
        [row] = await database.fetch("select created_at from leasehold.jobs where id = $1", made)
    assert row["created_at"].year > 2001


async def test_events_tell_in_whose_name_they_were_caused(
    login: Callable[[str], AbstractAsyncContextManager[Database]], roles: Roles
) -> None:
    async with login("operator") as operator, operator.transaction() as transaction:
        job_id = await transaction.call_value("enqueue_job", "echo", queue="named")
        await transaction.execute("set local leasehold.actor = 'ops'")
        await transaction.call("edit_job", job_id, priority=3)
    async with open_database(roles.owner_dsn) as database:
        rows = await database.fetch("select event, actor from leasehold.job_events where job_id = $1", job_id)
    assert {row["event"]: row["actor"] for row in rows} == {"edited": "ops"}


async def test_stored_queries_run_as_a_role_that_may_read_nothing_of_ours_and_cannot_shake_it_off(
    login: Callable[[str], AbstractAsyncContextManager[Database]], roles: Roles
) -> None:
    async with open_database(roles.owner_dsn) as database:
        await database.execute("create table shops (id int); insert into shops values (1), (2)")
        await database.execute(f"grant select on shops to {roles.prefix}query")
    async with login("owner") as owner:

        async def ask(query: str) -> list[object]:
            return [row[0] for row in await owner.fetch("select leasehold.read_schedule_rows($1)", query)]

        assert await ask("select id from shops order by id") == ['{"id": 1}', '{"id": 2}']
        assert await ask("select current_user::text as who") == [f'{{"who": "{roles.prefix}query"}}']
        for query in [
            "select * from leasehold.jobs",
            "select hash from leasehold.api_tokens",
            "select set_config('role', 'none', true) as x, query_to_xml('select * from leasehold.jobs', true, true, '') as y",
            "select set_config('session_authorization', 'postgres', true) as x",
            "select pg_read_file('/etc/passwd') as x",
            "with gone as (delete from shops returning id) select * from gone",
            "select 1) q; delete from shops; select (1",
            "select leasehold.cancel_job(1) as x",
        ]:
            with pytest.raises(LeaseholdError):
                await ask(query)
        assert len(await ask("select id from shops")) == 2


async def test_an_operator_enqueues_for_rows_that_only_the_role_of_queries_may_read(
    login: Callable[[str], AbstractAsyncContextManager[Database]], roles: Roles
) -> None:
    async with open_database(roles.owner_dsn) as database:
        await database.execute("create table stores (id int, state text)")
        await database.execute("insert into stores values (1, 'AZ'), (2, 'CA')")
        await database.execute(f"grant select on stores to {roles.prefix}query")
    query = "select id::text as key, jsonb_build_object('state', state) as metadata from stores"
    async with login("operator") as operator:
        with pytest.raises(LeaseholdError, match="permission denied"):
            await operator.fetch("select * from stores")
        made = {"name": "of_stores", "kind": "echo", "every": 3600, "query": query}
        await operator.call("create_schedule", json.dumps(made))
        rows = await operator.call("enqueue_for_rows", "of_stores", '{"state": "AZ"}')
        assert [row["key"] for row in rows] == ["1"]
        hostile = json.dumps({"state": "AZ'; delete from stores; --"})
        assert await operator.call("enqueue_for_rows", "of_stores", hostile) == []
    async with login("producer") as producer:
        with pytest.raises(LeaseholdError, match="permission denied"):
            await producer.call("enqueue_for_rows", "of_stores")


async def test_migrating_again_keeps_the_roles_in_force(roles: Roles, psql: Psql) -> None:
    """Replacing a function takes the rights of its owner away; the migration gives them again, as a plain owner."""
    psql(roles.owner_dsn, "update leasehold.schema_repeatables set checksum = 'old'")
    report = await migrate(roles.dsn("owner"))
    assert "enqueue_job" in report.functions
    assert await find_prefix(roles.owner_dsn) == roles.prefix
    psql(roles.dsn("producer"), "select leasehold.enqueue_job('echo', queue => 'migrated')")


async def test_the_roles_are_no_drift_of_the_schema(roles: Roles, database_url: str) -> None:
    async with open_database(roles.owner_dsn) as with_roles, open_database(database_url) as without:
        assert compare_descriptions(await describe_schema(without), await describe_schema(with_roles)) == Drift()


async def test_what_was_changed_by_hand_is_put_right(
    roles: Roles, login: Callable[[str], AbstractAsyncContextManager[Database]], psql: Psql
) -> None:
    psql(roles.owner_dsn, f"grant execute on function leasehold.cancel_job to {roles.prefix}producer")
    psql(roles.owner_dsn, "alter function leasehold.enqueue_job security invoker")
    psql(
        roles.owner_dsn,
        "create function leasehold.enqueue_job(kind uuid) returns text language sql as 'select null::text'",
    )
    await apply_grants(roles.owner_dsn, roles.prefix)
    async with login("producer") as producer:
        await producer.call("enqueue_job", "echo", queue="put right")
        assert await producer.fetch("select leasehold.enqueue_job(gen_random_uuid())"), (
            "a former signature has the same rights"
        )
        async with refused():
            await producer.call("cancel_job", 1)
    psql(roles.owner_dsn, "drop function leasehold.enqueue_job(uuid)")


async def test_without_roles_there_is_no_prefix(database_url: str) -> None:
    assert await find_prefix(database_url) is None


@pytest.mark.parametrize("prefix", ["", "Shop_", "a b", "x'; drop role y; --", "pg_x", "1a", "a" * 60])
def test_a_prefix_is_the_head_of_a_name_and_nothing_else(prefix: str) -> None:
    with pytest.raises(BadInput, match="cannot begin the name of a role"):
        emit_grants(prefix)


def test_the_script_is_the_same_every_time_and_names_its_roles() -> None:
    script = emit_grants("shop_")
    assert script == emit_grants("shop_")
    assert "leasehold_" not in script


@pytest.mark.acceptance
def test_our_own_processes_work_as_members_of_their_roles(
    roles: Roles, psql: Psql, start_process: StartProcess
) -> None:
    """Three processes start here, which takes its seconds: what they say to the database is nowhere else said in full."""
    processes = [
        start_process(args, {"LEASEHOLD_DATABASE_URL": roles.dsn(role)})
        for role, args in [
            ("worker", ["run", "worker", "--queues", "at-work"]),
            ("maintainer", ["run", "scheduler", "reaper"]),
            ("operator", ["gateway", "--port", "0"]),
        ]
    ]
    processes[2].wait_for_line("gateway serves")
    processes[1].wait_for_line("running scheduler")
    psql(roles.dsn("producer"), "select leasehold.enqueue_job('echo', queue => 'at-work', delay => '0.2 s')")
    processes[0].wait_for_line("completed job")
    assert [process.terminate() for process in processes] == [0, 0, 0]
