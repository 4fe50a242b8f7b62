"""What every file in sql/functions keeps to, so that all of them can be read, called and trusted alike.

Each rule is one test, which collects the files that break it.
"""

from __future__ import annotations

import re
from pathlib import Path

from leasehold.database import Database
from leasehold.sql import read_folder

FOLDER = Path(__file__).parents[2] / "sql" / "functions"
FUNCTIONS = read_folder("functions")
BODIES = {name: re.sub(r"--[^\n]*", "", text) for name, text in FUNCTIONS.items()}
"""The texts without comments."""

HEADER = ["Purpose", "Parameters", "Returns", "Errors", "Tables"]
# Plain SQL without names to look up; a SET clause would keep Postgres from inlining them into their callers.
INLINED = {
    "bucket_level", "bucket_of", "clock", "count_dead_entries", "epoch_mark",
    "default_attempts", "is_alive", "is_blocker", "is_epoch_over", "key_lock", "longest_time",
    "derive_key", "is_easy", "lane_class",
    "most_crashes", "name_job", "open_lock", "queue_lock", "read_simple_jobs", "refuse_job", "retry_delay",
    "send_notice",
}  # fmt: skip
QUESTIONS = {
    "bucket_bounds", "bucket_level", "bucket_of", "chain_jobs", "chain_tail", "clock", "default_attempts", "desired_slots",
    "desired_workers", "epoch_mark", "has_renewed", "has_room", "held_jobs", "is_alive", "is_blocker", "is_bound", "is_epoch_over",
    "is_easy", "is_leased", "is_over",
    "is_schedule_busy", "is_small", "key_lock", "lane_class", "longest_time", "most_crashes", "next_claim_in",
    "next_due_in", "next_expiry_in", "next_look_in", "next_tick_in", "open_lock", "payload_patience", "queue_lock",
    "workers_needed",
}  # fmt: skip
VERBS = (
    "acknowledge|adopt|command|add|age|apply|assert|audit|blame|block|cancel|change|claim|clear|close|complete|continue|count|demote|describe|delete|drop|edit|"
    "enqueue|ensure|excuse|expire|explain|fail|find|finish|follow|get|heartbeat|limit|list|lock|make|measure|name|"
    "pause|promote|reap|reclaim|recover|refuse|register|release|renew|reopen|repair|report|reschedule|reserve|"
    "create|declare|define|derive|fill|guard|move|refill|seal|disable|enable|fire|generate|look|orphan|plan|raise|read|replan|reset|run|update|"
    "resume|retire|retry|return|revoke|send|set|share|spend|start|stop|take|trigger|unblock|wait|wake|watch|write"
)
TYPES = "bigint|integer|text|jsonb|uuid|interval|double|numeric|boolean|timestamptz"
MOST_IN_A_FOLDER = 20


def header(name: str) -> list[str]:
    """The comment lines at the top of a file."""
    lines = FUNCTIONS[name].splitlines()
    end = next(n for n, line in enumerate(lines) if not line.startswith("--"))
    return lines[:end]


def test_there_are_functions() -> None:
    assert len(FUNCTIONS) > 30


def test_no_folder_is_too_full_to_be_looked_through() -> None:
    folders = {path.parent for path in FOLDER.rglob("*.sql")}
    assert FOLDER not in folders
    assert [folder for folder in folders if len(list(folder.glob("*.sql"))) > MOST_IN_A_FOLDER] == []


def test_a_file_defines_one_function_and_it_has_the_name_of_the_file() -> None:
    made = {name: re.findall(r"create (?:or replace )?\w+ (\S+?)\(", body) for name, body in BODIES.items()}
    assert {name: found for name, found in made.items() if found != [f"leasehold.{name}"]} == {}
    assert [name for name, body in BODIES.items() if f"create or replace function leasehold.{name}(" not in body] == []


async def test_the_database_has_these_functions_once_each_and_no_others(database: Database) -> None:
    rows = await database.fetch(
        "select proname::text from pg_proc where pronamespace = 'leasehold'::regnamespace order by 1"
    )
    assert [row[0] for row in rows] == sorted(FUNCTIONS)


def test_names_are_a_verb_and_a_noun() -> None:
    assert [name for name in FUNCTIONS if name not in QUESTIONS and not re.match(rf"({VERBS})(_|$)", name)] == []


def test_the_header_comes_first_and_has_its_lines_in_order() -> None:
    words = {name: re.findall(r"^-- ([A-Z]\w+) {2,}\S", "\n".join(header(name)), re.MULTILINE) for name in FUNCTIONS}
    assert {
        name: found for name, found in words.items() if [word for word in found if word != "Source"] != HEADER
    } == {}


def test_the_header_names_every_parameter() -> None:
    assert [(name, found) for name in FUNCTIONS for found in undocumented_parameters(name)] == []


def undocumented_parameters(name: str) -> list[str]:
    """The parameters of a function that its header does not name."""
    text = "\n".join(header(name))
    if "as enqueue_job" in text:
        return []
    signature = BODIES[name].split(f"leasehold.{name}(", 1)[1].split(") returns", 1)[0]
    signature = re.split(r"\)\s*\nreturns", signature)[0]
    parameters = re.findall(rf"(?:^|,)\s*(\w+) (?:{TYPES})", signature)
    return [parameter for parameter in parameters if not re.search(rf"\b{parameter}\b", text)]


def test_the_header_names_every_error() -> None:
    raised = {name: set(re.findall(r"'(LH\d+)'", body)) for name, body in BODIES.items()}
    told = {name: "\n".join(header(name)).split("-- Returns")[-1] for name in FUNCTIONS}
    assert [(name, code) for name, codes in raised.items() for code in sorted(codes) if code not in told[name]] == []


def test_names_are_looked_up_where_we_say() -> None:
    setting = "set search_path = leasehold, pg_catalog, pg_temp"
    assert {name for name, body in BODIES.items() if setting not in body} == INLINED


def test_only_the_clock_asks_what_time_it_is() -> None:
    clocks = r"\b(?:now\s*\(|current_(?:timestamp|date)|localtimestamp|(?:statement|transaction|clock)_timestamp)"
    assert [name for name, body in BODIES.items() if re.search(clocks, body, re.IGNORECASE)] == ["clock"]


def test_where_the_planner_is_steered_nothing_is_compiled() -> None:
    """A plan without an alternative to a disabled node costs ten billion, for which a server with JIT compiles it."""
    assert [name for name, body in BODIES.items() if "set enable_" in body and "set jit = off" not in body] == []


def test_tables_are_named_with_their_schema() -> None:
    tables = "jobs|finished_jobs|job_events|idempotency_keys|queues|workers|all_jobs|job_timeline"
    bare = rf"\b(?:from|join|into|update|delete from)\s+(?:{tables})\b(?!\.)"
    assert [(name, found) for name, body in BODIES.items() for found in re.findall(bare, body)] == []


def test_a_string_with_a_backslash_is_read_alike_whatever_standard_conforming_strings_says() -> None:
    tokens = re.compile(r"--[^\n]*|[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'")
    assert [
        name for name, text in FUNCTIONS.items() for each in tokens.findall(text) if each[0] == "'" and "\\" in each
    ] == []


def test_files_are_short() -> None:
    assert [name for name, text in FUNCTIONS.items() if len(text.splitlines()) > 200] == []
    assert [(name, line) for name, text in FUNCTIONS.items() for line in text.splitlines() if len(line) > 180] == []


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


async def test_every_table_has_a_primary_key_and_every_partition(database: Database) -> None:
    """Without one, logical replication refuses every update and delete in the table (SQLSTATE 55000)."""
    rows = await database.fetch(
        "select c.relname::text from pg_class c where c.relnamespace = 'leasehold'::regnamespace and c.relkind in ('r', 'p') "
        "and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary) order by 1"
    )
    assert [row[0] for row in rows] == []
