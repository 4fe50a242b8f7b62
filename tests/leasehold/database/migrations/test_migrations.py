from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping

import pytest
import trio

from leasehold.database import open_database
from leasehold.database.migrations import Catalogue, MigrationReport, emit, expected_version, migrate, schema_state
from leasehold.errors import BadInput, DatabaseUnavailable, QueryRefused, SchemaMismatch
from leasehold.sql import read_folder
from tests.support.servers import Server
from tests.support.waiting import PATIENCE, until

Psql = Callable[[str, str], str]

MIGRATIONS = {
    "0001_boxes": "create table leasehold.boxes (id int, label text);",
    "0002_weights": "alter table leasehold.boxes add weight int;",
}
VIEWS = {"heavy_boxes": "create or replace view leasehold.heavy_boxes as select id, weight from leasehold.boxes"}
FUNCTIONS = {
    "list_boxes": "create or replace function leasehold.list_boxes() returns setof leasehold.heavy_boxes"
    " language sql as $$ select * from leasehold.heavy_boxes where id > leasehold.first_box() $$;",
    "first_box": "create or replace function leasehold.first_box(p int default 0) returns int"
    " language sql as $$ select p $$;",
}


def catalogue(
    migrations: Mapping[str, str] = MIGRATIONS,
    views: Mapping[str, str] = VIEWS,
    functions: Mapping[str, str] = FUNCTIONS,
    former: Mapping[str, str] | None = None,
) -> Catalogue:
    return Catalogue.of(migrations, views, functions, former)


def next_version() -> Catalogue:
    """The files of this installation, and one migration more."""
    number = expected_version() + 1
    added = {f"{number:04}_colours": "alter table leasehold.jobs add column colour text not null default 'blue';"}
    return catalogue({**read_folder("migrations"), **added}, read_folder("views"), read_folder("functions"))


def dump(server: Server, dsn: str) -> str:
    """The schema of a database as pg_dump writes it, and what is written down about it."""
    program = server.psql.removesuffix("psql") + "pg_dump"
    done = subprocess.run([program, "--schema-only", dsn], check=True, capture_output=True, text=True, timeout=PATIENCE)
    return "\n".join(line for line in done.stdout.splitlines() if not line.startswith(("\\restrict", "\\unrestrict")))


RECORDS = """
select version, name, checksum, breaking from leasehold.schema_migrations order by 1;
select kind, name, checksum from leasehold.schema_repeatables order by 1, 2
"""


async def test_the_emitted_script_makes_the_same_schema_as_a_run(
    postgres_server: Server, fresh_database_url: str, empty_database_url: str, psql: Psql
) -> None:
    psql(empty_database_url, emit())
    assert dump(postgres_server, empty_database_url) == dump(postgres_server, fresh_database_url)
    assert psql(empty_database_url, RECORDS) == psql(fresh_database_url, RECORDS)
    nothing = MigrationReport(from_version=expected_version(), to_version=expected_version())
    assert await migrate(empty_database_url) == nothing


async def test_a_database_with_jobs_goes_on_to_the_next_version(fresh_database_url: str, psql: Psql) -> None:
    psql(fresh_database_url, "select leasehold.enqueue_job('mail', '{}')")
    assert (await schema_state(fresh_database_url, catalogue=next_version())).status == "older"
    report = await migrate(fresh_database_url, catalogue=next_version())
    assert (report.migrations, report.views, report.functions) == ((next_version().migrations[-1].title,), (), ())
    assert psql(fresh_database_url, "select kind, colour from leasehold.jobs") == "mail|blue"
    assert (await schema_state(fresh_database_url)).status == "newer"


def test_the_emitted_script_is_always_the_same_and_names_every_file() -> None:
    script = emit()
    assert script == emit()
    titles = [m.title for m in Catalogue.read().migrations] + [item.title for item in Catalogue.read().repeatables]
    assert all(f"\n-- {title}\n" in script for title in titles)


async def test_a_dry_run_tells_what_a_run_would_do_and_does_nothing(empty_database_url: str, psql: Psql) -> None:
    dry = await migrate(empty_database_url, dry_run=True, catalogue=catalogue())
    assert psql(empty_database_url, "select to_regnamespace('leasehold')") == ""
    real = await migrate(empty_database_url, catalogue=catalogue())
    assert dry.dry_run
    assert (dry.migrations, dry.views, dry.functions) == (real.migrations, real.views, real.functions)
    assert real.migrations == ("0001_boxes", "0002_weights")
    assert (real.views, sorted(real.functions)) == (("heavy_boxes",), ["first_box", "list_boxes"])
    assert (await migrate(empty_database_url, dry_run=True, catalogue=catalogue())).is_empty


async def test_a_run_may_stop_after_a_migration_and_go_on_later(empty_database_url: str, psql: Psql) -> None:
    first = await migrate(empty_database_url, to=1, catalogue=catalogue())
    assert (first.migrations, first.views, first.functions) == (("0001_boxes",), (), ())
    assert (
        psql(empty_database_url, "select count(*) from pg_proc where pronamespace = 'leasehold'::regnamespace") == "0"
    )
    rest = await migrate(empty_database_url, to=2, catalogue=catalogue())
    assert (rest.from_version, rest.migrations, rest.views) == (1, ("0002_weights",), ("heavy_boxes",))


async def test_a_target_that_is_unknown_or_behind_is_refused(empty_database_url: str) -> None:
    await migrate(empty_database_url, catalogue=catalogue())
    with pytest.raises(BadInput, match="no migration 3; the newest is 2"):
        await migrate(empty_database_url, to=3, catalogue=catalogue())
    with pytest.raises(BadInput, match="has migration 2 already; there is no way back to 1"):
        await migrate(empty_database_url, to=1, catalogue=catalogue())


async def test_two_runs_at_once_apply_everything_once(empty_database_url: str, psql: Psql) -> None:
    reports: list[MigrationReport] = []

    async def run() -> None:
        reports.append(await migrate(empty_database_url))

    async with open_database(empty_database_url) as database, database.transaction() as gate:
        await gate.fetch("select pg_advisory_xact_lock(hashtextextended('leasehold.migrate', 0))")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            nursery.start_soon(run)
            with trio.fail_after(PATIENCE):
                waiting = 0
                while waiting < 2:
                    rows = await database.fetch(
                        "select count(*) from pg_locks l join pg_database d on d.oid = l.database"
                        " where d.datname = current_database() and l.locktype = 'advisory' and not l.granted"
                    )
                    waiting = rows[0][0]
            await gate.execute("commit; begin")
    assert [report.is_empty for report in reports] == [False, True]
    assert [report.from_version for report in reports] == [0, expected_version()]
    assert psql(empty_database_url, "select count(*) from leasehold.schema_migrations") == str(expected_version())


async def test_a_database_newer_than_the_code_is_refused_with_advice(empty_database_url: str) -> None:
    await migrate(empty_database_url, catalogue=catalogue())
    older = catalogue({"0001_boxes": MIGRATIONS["0001_boxes"]})
    for dry_run in (False, True):
        with pytest.raises(SchemaMismatch, match="has migration 2 and this leasehold knows only 1: install the newer"):
            await migrate(empty_database_url, dry_run=dry_run, catalogue=older)
    state = await schema_state(empty_database_url, catalogue=older)
    assert (state.status, state.version, state.expected, state.breaking) == ("newer", 2, 1, False)


async def test_a_breaking_migration_is_seen_by_older_code(empty_database_url: str) -> None:
    breaking = {**MIGRATIONS, "0002_weights": "-- breaking: weights are needed\n" + MIGRATIONS["0002_weights"]}
    await migrate(empty_database_url, catalogue=catalogue(breaking))
    older = catalogue({"0001_boxes": MIGRATIONS["0001_boxes"]})
    assert (await schema_state(empty_database_url, catalogue=older)).breaking


async def test_an_edited_migration_that_was_applied_is_refused(empty_database_url: str) -> None:
    await migrate(empty_database_url, catalogue=catalogue())
    edited = catalogue({**MIGRATIONS, "0001_boxes": "create table leasehold.boxes (id bigint);"})
    with pytest.raises(SchemaMismatch, match="0001_boxes was applied with another text"):
        await migrate(empty_database_url, catalogue=edited)


async def test_a_migration_that_fails_is_named_and_nothing_is_changed(empty_database_url: str, psql: Psql) -> None:
    for broken in ("select 1 / 0;", "select no_such_column;", "this is no SQL", "create table leasehold.boxes ();"):
        files = {**MIGRATIONS, "0003_broken": "create table leasehold.half ();\n" + broken}
        with pytest.raises(QueryRefused, match="0003_broken could not be applied, nothing was changed"):
            await migrate(empty_database_url, catalogue=catalogue(files))
        assert psql(empty_database_url, "select to_regnamespace('leasehold')") == ""


async def test_a_table_that_others_keep_locked_ends_the_run_in_time_and_they_are_named(empty_database_url: str) -> None:
    await migrate(empty_database_url, catalogue=catalogue())
    more = catalogue({**MIGRATIONS, "0003_more": "alter table leasehold.boxes add more int;"})
    told: list[str] = []
    reports: list[MigrationReport] = []

    async def run() -> None:
        reports.append(await migrate(empty_database_url, catalogue=more, patience=PATIENCE, say=told.append))

    async with (
        open_database(empty_database_url, application_name="a report") as database,
        database.transaction() as reader,
    ):
        await reader.fetch("select * from leasehold.boxes")
        with pytest.raises(
            DatabaseUnavailable, match=r"0003_more waits for leasehold.boxes.*it changed nothing"
        ) as caught:
            await migrate(empty_database_url, catalogue=more, patience=0.0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await until(lambda: bool(told))
            await reader.execute("commit; begin")
    for said in (str(caught.value), *told):
        assert re.search(
            r"waits for leasehold.boxes, which session \d+ \(a report, user \w+, idle in transaction", said
        )
    assert [report.migrations for report in reports] == [("0003_more",)]


async def test_only_what_changed_is_made_again(empty_database_url: str) -> None:
    await migrate(empty_database_url, catalogue=catalogue())
    other = FUNCTIONS["first_box"].replace("select p", "select p + 1")
    changed = catalogue(functions={**FUNCTIONS, "first_box": other})
    assert (await schema_state(empty_database_url, catalogue=changed)).differing == ("function first_box",)
    report = await migrate(empty_database_url, catalogue=changed)
    assert (report.migrations, report.views, report.functions) == ((), (), ("first_box",))
    assert (await schema_state(empty_database_url, catalogue=changed)).differing == ()


async def test_what_somebody_dropped_is_made_again(empty_database_url: str, psql: Psql) -> None:
    await migrate(empty_database_url, catalogue=catalogue())
    psql(empty_database_url, "drop view leasehold.heavy_boxes cascade")
    state = await schema_state(empty_database_url, catalogue=catalogue())
    assert state.differing == ("view heavy_boxes", "function list_boxes")
    report = await migrate(empty_database_url, catalogue=catalogue())
    assert (report.views, report.functions) == (("heavy_boxes",), ("list_boxes",))


async def test_a_function_may_get_another_return_type_and_other_parameters_and_leaves_no_former_self_behind(
    empty_database_url: str, psql: Psql
) -> None:
    await migrate(empty_database_url, catalogue=catalogue())
    other = FUNCTIONS["first_box"].replace("returns int", "returns bigint").replace("select p", "select p::bigint")
    await migrate(empty_database_url, catalogue=catalogue(functions={**FUNCTIONS, "first_box": other}))
    assert psql(empty_database_url, "select pg_typeof(leasehold.first_box())") == "bigint"
    other = FUNCTIONS["first_box"].replace("p int default 0", "p int default 0, q int default 0")
    await migrate(empty_database_url, catalogue=catalogue(functions={**FUNCTIONS, "first_box": other}))
    assert psql(empty_database_url, "select oid::regprocedure from pg_proc where proname = 'first_box'") == (
        "leasehold.first_box(integer,integer)"
    )


async def test_a_view_may_get_other_columns_unless_a_user_has_built_on_it(empty_database_url: str, psql: Psql) -> None:
    await migrate(empty_database_url, catalogue=catalogue())
    views = {"heavy_boxes": VIEWS["heavy_boxes"].replace("id, weight", "id, label, weight")}
    report = await migrate(empty_database_url, catalogue=catalogue(views=views))
    assert (report.views, report.functions) == (("heavy_boxes",), ("list_boxes",))
    psql(empty_database_url, "select id, label, weight from leasehold.list_boxes()")
    psql(empty_database_url, "create view public.my_report as select * from leasehold.heavy_boxes")
    views = {"heavy_boxes": views["heavy_boxes"].replace("id, label, weight", "label, id, weight")}
    with pytest.raises(
        QueryRefused, match=r"dropping view heavy_boxes could not be applied.*other objects depend on it"
    ):
        await migrate(empty_database_url, catalogue=catalogue(views=views))
    psql(empty_database_url, "select * from public.my_report, leasehold.list_boxes()")


async def test_a_function_below_a_view_may_answer_more_columns(empty_database_url: str, psql: Psql) -> None:
    measure = (
        "create or replace function leasehold.measure_boxes() returns table (id int) language sql"
        " as $$ select b.id from leasehold.boxes b $$;"
    )
    views = {"all_boxes": "create or replace view leasehold.all_boxes as select * from leasehold.measure_boxes()"}
    functions = {
        "measure_boxes": measure,
        "list_boxes": "create or replace function leasehold.list_boxes() returns setof leasehold.all_boxes"
        " language sql as $$ select * from leasehold.all_boxes $$;",
    }
    await migrate(empty_database_url, catalogue=catalogue(views=views, functions=functions))
    functions["measure_boxes"] = measure.replace("(id int)", "(id int, label text)").replace("b.id", "b.id, b.label")
    report = await migrate(empty_database_url, catalogue=catalogue(views=views, functions=functions))
    assert (report.views, report.functions) == (("all_boxes",), ("measure_boxes", "list_boxes"))
    psql(empty_database_url, "select id, label from leasehold.list_boxes()")
    assert psql(empty_database_url, "select count(*) from pg_proc where proname ~ 'aside'") == "0"


async def test_a_view_or_function_without_a_file_goes(empty_database_url: str, psql: Psql) -> None:
    await migrate(empty_database_url, catalogue=catalogue())
    report = await migrate(empty_database_url, catalogue=catalogue(views={}, functions={}))
    assert sorted(report.removed) == ["function first_box", "function list_boxes", "view heavy_boxes"]
    left = (
        "select count(*) from pg_proc where pronamespace = 'leasehold'::regnamespace; select to_regclass('heavy_boxes')"
    )
    assert psql(empty_database_url, left) == "0\n"


async def test_what_goes_may_have_been_needed_by_what_changes(empty_database_url: str, psql: Psql) -> None:
    await migrate(empty_database_url, catalogue=catalogue())
    other = FUNCTIONS["list_boxes"].replace("setof leasehold.heavy_boxes", "setof leasehold.boxes")
    report = await migrate(
        empty_database_url, catalogue=catalogue(views={}, functions={**FUNCTIONS, "list_boxes": other})
    )
    assert (report.removed, report.functions) == (("view heavy_boxes",), ("list_boxes",))


async def test_the_state_of_a_schema_is_told(empty_database_url: str) -> None:
    missing = await schema_state(empty_database_url, catalogue=catalogue())
    assert (missing.status, missing.version, missing.pending) == ("missing", 0, ("0001_boxes", "0002_weights"))
    await migrate(empty_database_url, to=1, catalogue=catalogue())
    older = await schema_state(empty_database_url, catalogue=catalogue())
    assert (older.status, older.version, older.expected, older.pending) == ("older", 1, 2, ("0002_weights",))
    await migrate(empty_database_url, catalogue=catalogue())
    same = await schema_state(empty_database_url, catalogue=catalogue())
    assert (same.status, same.pending, same.differing) == ("same", (), ())


async def test_an_owner_who_may_not_make_schemas_can_migrate(
    postgres_server: Server, empty_database_url: str, psql: Psql
) -> None:
    psql(
        empty_database_url,
        "do $$ begin create role leasehold_owner; exception when duplicate_object then null; end $$;"
        "create schema leasehold authorization leasehold_owner",
    )
    joiner = "&" if "?" in empty_database_url else "?"
    await migrate(f"{empty_database_url}{joiner}options=-c%20role%3Dleasehold_owner")
    owners = "select distinct pg_get_userbyid(relowner) from pg_class where relnamespace = 'leasehold'::regnamespace"
    assert psql(empty_database_url, owners) == "leasehold_owner"


async def test_a_migration_is_kept_although_a_later_one_fails(empty_database_url: str) -> None:
    """The next run goes on where this one ended: others may have used what there is already."""
    await migrate(empty_database_url, catalogue=catalogue({"0001_boxes": MIGRATIONS["0001_boxes"]}, {}, {}))
    files = {**MIGRATIONS, "0003_broken": "create table leasehold.half (); select 1 / 0;"}
    with pytest.raises(QueryRefused, match="0003_broken could not be applied, nothing was changed"):
        await migrate(empty_database_url, catalogue=catalogue(files))
    state = await schema_state(empty_database_url, catalogue=catalogue(files))
    assert (state.version, state.pending) == (2, ("0003_broken",))
    report = await migrate(empty_database_url, catalogue=catalogue({**MIGRATIONS, "0003_mended": "select 1;"}))
    assert report.migrations == ("0003_mended",)


FORMER = {
    "first_box__0_1": "create or replace function leasehold.first_box(p text) returns int"
    " language sql as $$ select leasehold.first_box(p::int) $$;"
}


async def test_a_former_signature_is_kept_beside_the_new_one_until_its_file_goes(
    empty_database_url: str, psql: Psql
) -> None:
    signatures = "select string_agg(oid::regprocedure::text, ' ' order by 1) from pg_proc where proname ~ 'first_box'"
    both = "leasehold.first_box(integer) leasehold.first_box(text)"
    await migrate(empty_database_url, catalogue=catalogue())
    assert (await migrate(empty_database_url, catalogue=catalogue(former=FORMER))).functions == (
        "first_box", "first_box__0_1",
    )  # fmt: skip
    assert psql(empty_database_url, signatures) == both
    assert psql(empty_database_url, "select leasehold.first_box(7), leasehold.first_box('8'::text)") == "7|8"
    other = {**FUNCTIONS, "first_box": FUNCTIONS["first_box"].replace("select p", "select p + 1")}
    await migrate(empty_database_url, catalogue=catalogue(functions=other, former=FORMER))
    assert psql(empty_database_url, signatures) == both
    assert psql(empty_database_url, "select leasehold.first_box('8'::text)") == "9"
    assert (await migrate(empty_database_url, catalogue=catalogue(functions=other, former=FORMER))).is_empty
    report = await migrate(empty_database_url, catalogue=catalogue(functions=other))
    assert report.removed == ("former first_box__0_1",)
    assert psql(empty_database_url, signatures) == "leasehold.first_box(integer)"
