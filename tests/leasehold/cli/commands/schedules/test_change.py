from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.leasehold.cli.conftest import Cli, Sql, Transcript

APP = """
from leasehold import App

app = App()


@app.kind(queue="slow")
async def clean_up(days: int = 30) -> None: ...
"""


def record(done: Transcript) -> dict[str, Any]:
    assert done.code == 0, done.err
    return done.json()


def test_a_schedule_is_created_with_all_that_flags_say(cli: Cli) -> None:
    made = record(
        cli(
            "schedules", "create", "nightly", "clean_up", '{"days": 30}', "--cron", "0 3 * * *", "--zone", "Europe/Berlin",
            "--starts-at", "2030-01-01T00:00:00Z", "--ends-at", "2031-01-01T00:00:00Z",
            "--query", "select 1 as shop", "--query-timeout", "2m", "--query-rows", "7", "--stagger", "30m", "--batches", "4",
            "--missed", "catch_up", "--grace", "5m", "--catch-up-limit", "9", "--overlap", "skip", "--queue", "slow",
            "--priority", "-5", "--key", "k", "--key-group", "g", "--max-attempts", "3", "--timeout", "90s",
            "--metadata", '{"a": 1}', "--description", "text", "--disabled", "--output", "json",
        )
    )  # fmt: skip
    said = {
        "name": "nightly", "kind": "clean_up", "args": {"days": 30}, "cron": "0 3 * * *", "zone": "Europe/Berlin",
        "starts_at": "2030-01-01T00:00:00Z", "ends_at": "2031-01-01T00:00:00Z", "query": "select 1 as shop",
        "query_timeout": 120, "query_rows": 7, "stagger": 1800, "batches": 4,
        "missed": "catch_up", "grace": 300, "catch_up_limit": 9, "overlap": "skip", "queue": "slow", "priority": -5, "key": "k",
        "key_group": "g", "max_attempts": 3, "timeout": 90, "metadata": {"a": 1}, "description": "text", "enabled": False,
    }  # fmt: skip
    assert {name: made[name] for name in said} == said


def test_a_created_schedule_is_shown_in_one_line(cli: Cli) -> None:
    done = cli("schedules", "create", "nightly", "clean_up", "--every", "4h", "--output", "text")
    assert [line.split() for line in done.out.splitlines()] == [
        ["schedule", "when", "kind", "next", "last", "from"],
        ["nightly", "every", "4h", "clean_up", "unplanned", "never", "hand"],
    ]
    assert cli("schedules", "create", "nightly", "clean_up", "--every", "4h").code == 4


def test_a_kind_that_nobody_knows_is_scheduled_with_a_warning(cli: Cli) -> None:
    done = cli("schedules", "create", "nightly", "clean_pu", "--every", "4h")
    assert (done.code, "no app has declared a kind 'clean_pu'" in done.err) == (0, True)
    assert cli("schedules", "create", "hourly", "echo", "--every", "1h").err == ""


def test_a_dry_run_checks_and_shows_the_next_ticks(cli: Cli) -> None:
    flags = ("schedules", "create", "nightly", "clean_up", "--dry-run")
    shown = record(cli(*flags, "--cron", "@daily", "--query", "select 1 as shop", "--output", "json"))
    assert (shown["schedule"], shown["timing"], len(shown["ticks"])) == ("nightly", "@daily UTC", 5)
    wrong = cli(*flags, "--every", "5m", "--query", "select * from no_such_table")
    assert (wrong.code, "no_such_table" in wrong.err) == (2, True)
    assert cli("schedules", "list", "--output", "json").json() == []


# What the flags themselves cannot mean; the rest is tested with `leasehold.schedules.encoding`.
WRONG = [
    (("--every", "often"), "'often' is no duration"),
    (("--cron", "@daily", "--zone", "Berlin"), "there is no time zone 'Berlin'"),
    (("--at", "2030-01-31T09:30:00"), "does not say where"),
    (("--every", "5m", "--query", "@no/such/file"), "cannot read the query from no/such/file"),
    (("--every", "5m", "--metadata", "[]"), "metadata must be a JSON object"),
]


def test_what_is_no_schedule_is_refused_in_words(cli: Cli) -> None:
    for flags, said in WRONG:
        done = cli("schedules", "create", "nightly", "clean_up", *flags)
        assert (done.code, done.out) == (2, ""), flags
        assert said in done.err


def test_a_query_may_stand_in_a_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "shops.sql").write_text("select 1 as shop -- all\n")
    query = ("--query", f"@{tmp_path}/shops.sql")
    made = record(cli("schedules", "create", "s", "crawl", "--every", "5m", *query, "--output", "json"))
    assert made["query"] == "select 1 as shop -- all\n"


def test_a_change_leaves_the_rest_and_a_field_may_be_cleared(cli: Cli) -> None:
    cli("schedules", "create", "s", "clean_up", "--every", "5m", "--key", "k", "--queue", "slow")
    flags = ("--cron", "@daily", "--args", '{"days": 7}', "--kind", "sweep")
    changed = record(cli("schedules", "update", "s", *flags, "--output", "json"))
    said = {"cron": "@daily", "every": None, "args": {"days": 7}, "kind": "sweep", "queue": "slow"}
    assert {name: changed[name] for name in said} == said
    clear = ("--clear", "key", "--clear", "queue", "--revision", "2")
    cleared = record(cli("schedules", "update", "s", *clear, "--output", "json"))
    assert (cleared["key"], cleared["queue"]) == (None, "default")
    late = cli("schedules", "update", "s", "--revision", "2", "--priority", "1")
    assert (late.code, "has revision 3 by now, not 2" in late.err) == (4, True)
    assert cli("schedules", "update", "s").code == 2
    unknown = cli("schedules", "update", "s", "--clear", "name")
    assert unknown.code == 2
    assert "--clear name: a schedule has no such field that could be cleared" in unknown.err


def test_a_schedule_of_the_code_is_changed_and_given_back(cli: Cli, sql: Sql) -> None:
    sql("""select leasehold.declare_schedule('{"name": "s", "kind": "clean_up", "every": 60}')""")
    assert record(cli("schedules", "update", "s", "--grace", "5s", "--output", "json"))["overridden"] == ["grace"]
    assert "code, changed" in cli("schedules", "list", "--output", "text").out
    shown = cli("schedules", "show", "s", "--output", "text").out
    assert "code, changed  grace as an operator said" in shown
    assert cli("schedules", "update", "s", "--reset", "--grace", "5s").code == 2
    assert record(cli("schedules", "update", "s", "--reset", "--output", "json"))["overridden"] == []


def test_it_is_enabled_disabled_and_deleted(cli: Cli) -> None:
    cli("schedules", "create", "s", "clean_up", "--every", "5m")
    say = ("--output", "text")
    assert cli("schedules", "enable", "s", *say).out == "schedule s was already enabled\n"
    assert cli("schedules", "disable", "s", *say).out == "schedule s is now disabled\n"
    assert cli("schedules", "disable", "s", "--output", "json").json() == {
        "schedule": "s",
        "now": "disabled",
        "changed": False,
    }
    assert cli("schedules", "delete", "s", *say).out == "schedule s is now deleted\n"
    assert cli("schedules", "delete", "s").code == 3


def test_firing_by_hand_names_the_jobs(cli: Cli) -> None:
    cli("schedules", "create", "s", "echo", "--every", "5m", "--query", "select g from generate_series(1, 21) g")
    fired = cli("schedules", "trigger", "s", "--output", "text").out
    assert fired == f"schedule s made 21 jobs: {', '.join(str(each) for each in range(1, 21))}, …\n"
    cli("schedules", "update", "s", "--clear", "query")
    day = ("schedules", "generate", "s", "--date", "2030-01-31")
    assert cli(*day, "--output", "text").out == "schedule s made 1 job: 22\n"
    assert cli(*day, "--output", "text").out == "schedule s had made already 1 job: 22\n"
    assert record(cli(*day, "--output", "json")) == {
        "schedule": "s",
        "tick_at": "2030-01-31T00:00:00Z",
        "job_count": 1,
        "job_ids": [22],
        "is_new": False,
    }
    wrong = cli("schedules", "generate", "s", "--date", "31.1.2030")
    assert (wrong.code, "'31.1.2030' is no date; write for example 2030-01-31" in wrong.err) == (2, True)


def test_a_configured_app_is_asked_about_the_jobs(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app_with_schedules.py").write_text(APP)
    monkeypatch.chdir(tmp_path)
    environ = {"LEASEHOLD_APP": "app_with_schedules:app"}
    wrong = cli("schedules", "create", "s", "clean_up", '{"days": "x"}', "--every", "5m", environ=environ)
    assert (wrong.code, "args do not fit clean_up(days)" in wrong.err) == (2, True)
    made = record(cli("schedules", "create", "s", "clean_up", "--every", "5m", "--output", "json", environ=environ))
    assert made["queue"] == "slow"
    assert "no handler is registered" in cli("schedules", "update", "s", "--kind", "none", environ=environ).err
