"""What every file in sql/functions keeps to, so that all of them can be read, called and trusted alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from leasehold.database import Database
from leasehold.sql import read_folder

FUNCTIONS = read_folder("functions")
HEADER = ("Purpose", "Parameters", "Returns", "Errors", "Tables", "Callers")
# Plain SQL without names to look up; a SET clause would keep Postgres from inlining them into their callers.
INLINED = {
    "bucket_level", "bucket_of", "clock", "is_blocker", "key_lock", "most_crashes", "name_job", "queue_lock", "refuse_continuation",
    "refuse_job", "retry_delay",
}  # fmt: skip
QUESTIONS = {
    "bucket_bounds", "bucket_level", "bucket_of", "chain_jobs", "chain_tail", "clock", "desired_slots",
    "desired_workers", "held_jobs", "is_alive", "is_blocker", "is_bound", "is_over", "is_schedule_busy", "is_small",
    "key_lock", "most_crashes", "next_due_in", "next_expiry_in", "next_look_in", "next_tick_in", "queue_lock", "workers_needed",
}  # fmt: skip
VERBS = (
    "acknowledge|command|add|age|apply|assert|audit|blame|block|cancel|change|claim|close|complete|continue|count|describe|delete|drop|edit|"
    "enqueue|ensure|expire|explain|fail|find|finish|get|heartbeat|isolate|hold|limit|list|lock|make|measure|name|"
    "pause|promote|reap|reclaim|recover|refuse|register|release|renew|reopen|repair|report|reschedule|"
    "create|declare|disable|enable|fire|generate|orphan|plan|read|reset|run|update|"
    "resume|retry|return|revoke|set|settle|share|spend|start|stop|trigger|unblock|wait|wake|watch|write"
)
TYPES = "bigint|integer|text|jsonb|uuid|interval|double|numeric|boolean|timestamptz"
EVERY = pytest.mark.parametrize("name", FUNCTIONS)


def header(name: str) -> list[str]:
    return [line for line in FUNCTIONS[name].splitlines() if line.startswith("--")]


def body(name: str) -> str:
    """The text without comments."""
    return re.sub(r"--[^\n]*", "", FUNCTIONS[name])


def test_there_are_functions() -> None:
    assert len(FUNCTIONS) > 30


@EVERY
def test_a_file_defines_one_function_and_it_has_the_name_of_the_file(name: str) -> None:
    assert re.findall(r"create (?:or replace )?\w+ (\S+?)\(", body(name)) == [f"leasehold.{name}"]
    assert re.findall(r"create or replace function leasehold\.(\w+)", body(name)) == [name]


async def test_the_database_has_these_functions_once_each_and_no_others(database: Database) -> None:
    rows = await database.fetch(
        "select proname::text from pg_proc where pronamespace = 'leasehold'::regnamespace order by 1"
    )
    assert [row[0] for row in rows] == sorted(FUNCTIONS)


@EVERY
def test_names_are_a_verb_and_a_noun(name: str) -> None:
    assert name in QUESTIONS or re.match(rf"({VERBS})(_|$)", name)


@EVERY
def test_the_header_comes_first_and_has_its_lines_in_order(name: str) -> None:
    lines = FUNCTIONS[name].splitlines()
    end = next(n for n, line in enumerate(lines) if not line.startswith("--"))
    words = [found[1] for line in lines[:end] if (found := re.match(r"-- ([A-Z]\w+) {2,}\S", line))]
    assert tuple(word for word in words if word != "Source") == HEADER


@EVERY
def test_the_header_names_every_parameter_and_every_error(name: str) -> None:
    text = "\n".join(header(name))
    for code in set(re.findall(r"'(LH\d+)'", body(name))):
        assert code in text.split("-- Returns")[1], f"{code} is raised and not documented"
    if "as enqueue_job" in text:
        return
    signature = body(name).split(f"leasehold.{name}(", 1)[1].split(") returns", 1)[0]
    signature = re.split(r"\)\s*\nreturns", signature)[0]
    for parameter in re.findall(rf"(?:^|,)\s*(\w+) (?:{TYPES})", signature):
        assert re.search(rf"\b{parameter}\b|`{parameter}`", text), f"{parameter} is not documented"


@EVERY
def test_names_are_looked_up_where_we_say(name: str) -> None:
    setting = "set search_path = leasehold, pg_catalog, pg_temp"
    assert (setting in body(name)) == (name not in INLINED)


@EVERY
def test_only_the_clock_asks_what_time_it_is(name: str) -> None:
    clocks = r"\b(now\s*\(|current_timestamp|current_date|localtimestamp|statement_timestamp|transaction_timestamp|clock_timestamp)"
    found = re.findall(clocks, body(name), re.IGNORECASE)
    assert bool(found) == (name == "clock"), found


@EVERY
def test_where_the_planner_is_steered_nothing_is_compiled(name: str) -> None:
    """A plan without an alternative to a disabled node costs ten billion, for which a server with JIT compiles it."""
    if "set enable_" in body(name):
        assert "set jit = off" in body(name)


@EVERY
def test_tables_are_named_with_their_schema(name: str) -> None:
    tables = "jobs|finished_jobs|job_events|idempotency_keys|queues|workers|all_jobs|job_timeline"
    bare = re.findall(rf"\b(?:from|join|into|update|delete from)\s+({tables})\b(?!\.)", body(name))
    assert bare == []


@EVERY
def test_every_function_has_its_tests(name: str) -> None:
    assert (Path(__file__).parent / f"test_{name}.py").is_file()


@EVERY
def test_files_are_short(name: str) -> None:
    assert len(FUNCTIONS[name].splitlines()) <= 200
    assert all(len(line) <= 180 for line in FUNCTIONS[name].splitlines())


async def test_no_function_runs_with_the_rights_of_its_owner(database: Database) -> None:
    rows = await database.fetch(
        "select proname from pg_proc where pronamespace = 'leasehold'::regnamespace and prosecdef"
    )
    assert rows == []


async def test_every_table_and_its_public_columns_are_explained(database: Database) -> None:
    rows = await database.fetch(
        "select relname::text from pg_class where relnamespace = 'leasehold'::regnamespace and relkind in ('r', 'p') "
        "and not relispartition and obj_description(oid) is null and relname not like 'schema_%' order by 1"
    )
    assert [row[0] for row in rows] == []
