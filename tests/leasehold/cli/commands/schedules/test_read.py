from __future__ import annotations

import re
from typing import Any, cast

from tests.leasehold.cli.conftest import Cli, Sql, Transcript

SUMMER_ENDS = ("--after", "2030-10-25T00:00:00Z")
TICKS = """
insert into leasehold.schedule_ticks
       (schedule_id, fired_by, origin, fired_at, tick_at, outcome, reason, ticks, job_count, job_ids, error)
select 1, 'scheduler a:1', 'timer', leasehold.clock(), v.*
  from (values (timestamptz '2030-01-01T00:00Z', 'skipped', 'missed', 3, 0, null::bigint[], null),
               ('2030-01-01T01:00Z', 'skipped', 'catch_up_limit', null, 0, null, null),
               ('2030-01-01T02:00Z', 'failed', null, null, 0, null, E'the query failed: no\\nsuch table'),
               ('2030-01-01T03:00Z', 'fired', null, null, 2, '{7,8}', null)) v
"""


def lines_of(done: Transcript) -> list[str]:
    """Instants and spans replaced, and the spaces that their lengths cost with them."""
    assert done.code == 0, done.err
    steady = re.sub(r"\bin \d+d( \d+h)?", "in <span>", done.steady)
    return [re.sub(r" {2,}", "  ", line).rstrip() for line in steady.splitlines()]


def create(cli: Cli, name: str = "nightly", *flags: str) -> None:
    when = flags if {"--every", "--cron", "--at"} & set(flags) else ("--cron", "0 3 * * *", *flags)
    done = cli("schedules", "create", name, "clean_up", *when)
    assert done.code == 0, done.err


def test_schedules_are_listed_with_when_they_fire_how_they_stand_and_where_they_come_from(cli: Cli, sql: Sql) -> None:
    assert cli("schedules", "list", "--output", "text").err == "none\n"
    sql("""
        select leasehold.create_schedule(jsonb_build_object(
                   'name', name, 'kind', 'clean_up', 'cron', '0 3 * * *', 'zone', 'Europe/Berlin'))
          from unnest('{a,b,c,d,e,f,g}'::text[]) name
    """)
    create(cli, "once", "--at", "2030-01-31T09:30:00Z")
    sql(
        """
        update leasehold.schedules set planned_revision = revision, next_run_at = '2190-01-01', declared = '{}' where name <> 'b';
        update leasehold.schedules set enabled = false where name = 'c';
        update leasehold.schedules set next_run_at = null, last_error = 'no such zone' where name = 'd';
        update leasehold.schedules set last_run_at = leasehold.clock(), last_job_count = 1, overridden = '{zone}' where name = 'e';
        update leasehold.schedules
           set last_run_at = leasehold.clock(), last_job_count = 2, last_error = 'x', orphaned_at = leasehold.clock()
         where name = 'f';
        update leasehold.schedules set next_run_at = null, declared = null where name in ('g', 'once');
        """,
    )
    assert lines_of(cli("schedules", "list", "--output", "text")) == [
        "schedule  when  kind  next  last  from",
        "a  0 3 * * * Europe/Berlin  clean_up  in <span>  never  code",
        "b  0 3 * * * Europe/Berlin  clean_up  unplanned  never  hand",
        "c  0 3 * * * Europe/Berlin  clean_up  disabled  never  code",
        "d  0 3 * * * Europe/Berlin  clean_up  broken  failed  code",
        "e  0 3 * * * Europe/Berlin  clean_up  in <span>  1d ago, 1 job  code, changed",
        "f  0 3 * * * Europe/Berlin  clean_up  in <span>  1d ago, 2 jobs, failed  orphaned",
        "g  0 3 * * * Europe/Berlin  clean_up  over  never  hand",
        "once  once, <instant>  clean_up  over  never  hand",
    ]


def test_lists_have_filters_and_pages(cli: Cli, sql: Sql) -> None:
    for fields in ('"name": "a", "queue": "slow"', '"name": "b", "enabled": false', '"name": "c"'):
        sql(f"""select leasehold.create_schedule('{{"kind": "clean_up", "cron": "@daily", {fields}}}')""")

    def names(*flags: str) -> list[str]:
        return [each["name"] for each in cli("schedules", "list", *flags, "--output", "json").json()]

    assert names("--no-enabled") == ["b"]
    assert names("--enabled", "--kind", "clean_up", "--queue", "default") == ["c"]
    assert names("--queue", "slow") == ["a"]
    assert cli("schedules", "list", "--limit", "2").err == "more: --after b\n"
    assert names("--after", "b") == ["c"]


def test_one_is_shown_with_its_next_ticks_and_its_last_ones(cli: Cli, sql: Sql) -> None:
    create(
        cli, "nightly", "--starts-at", "2190-03-01T00:00:00Z", "--zone", "Europe/Berlin", "--stagger", "30m", "--batches", "4",
        "--overlap", "skip",
        "--missed", "catch_up", "--query", "select 1 as  shop", "--priority", "5", "--key-group", "shops", "--timeout", "90s",
        "--metadata", '{"team": "data"}', "--description", "Cleans \x1b[31mup.",
    )  # fmt: skip
    sql(TICKS)
    shown = lines_of(cli("schedules", "show", "nightly", "--output", "text"))
    assert shown == [
        "schedule  nightly  id 1, revision 1",
        "description  Cleans \\x1b[31mup.",
        "when  0 3 * * * Europe/Berlin",
        "next  unplanned, waits for a scheduler: leasehold run scheduler",
        "last  never",
        "jobs  clean_up in queue default, priority 5, key group shops, timeout 1m 30s, one for each row of the query",
        'metadata  {"team":"data"}',
        "query  select 1 as shop",
        "stagger  over 30m in 4 batches",
        "missed ticks  caught up, at most 100; missed is later than 1m",
        "overlap  skip the tick",
        "starts at  <instant>",
        "from  hand",
        "updated  1d ago by postgres",
        "",
        "next ticks",
        "local time  offset  note",
        "Mon 2190-03-01 03:00  +01:00  in <span>",
        "Tue 2190-03-02 03:00  +01:00  in <span>",
        "Wed 2190-03-03 03:00  +01:00  in <span>",
        "Thu 2190-03-04 03:00  +01:00  in <span>",
        "Fri 2190-03-05 03:00  +01:00  in <span>",
        "",
        "last ticks",
        "tick  dealt with  by  outcome  jobs  note",
        "<instant>  1d ago  timer  fired  2",
        "<instant>  1d ago  timer  failed  the query failed: no",
        "<instant>  1d ago  timer  skipped  catch up limit, more than 10000 ticks",
        "<instant>  1d ago  timer  skipped  missed, 3 ticks",
    ]
    report = cli("schedules", "show", "1", "--output", "json").json()
    assert (len(report["next_ticks"]), len(report["history"])) == (5, 4)


def test_one_that_cannot_be_planned_is_shown_all_the_same(cli: Cli, sql: Sql) -> None:
    create(cli)
    sql(
        "update leasehold.schedules set zone = 'Mars/Phobos', planned_revision = revision, last_error = 'no zone'",
    )
    shown = lines_of(cli("schedules", "show", "nightly", "--output", "text"))
    assert {"next  broken", "error  no zone"} <= set(shown)
    assert "next ticks" not in shown


def test_the_history_is_listed_newest_first_and_page_by_page(cli: Cli, sql: Sql) -> None:
    for name in ("nightly", "other"):
        sql(f"""select leasehold.create_schedule('{{"name": "{name}", "kind": "clean_up", "cron": "@daily"}}')""")
    sql(TICKS + "; select leasehold.trigger_schedule('other')")
    assert [line.split("  ")[0] for line in lines_of(cli("schedules", "history", "--output", "text"))] == [
        "schedule",
        "other",
        "nightly",
        "nightly",
        "nightly",
        "nightly",
    ]
    page = cli("schedules", "history", "nightly", "--limit", "2", "--output", "json")
    found = page.json()
    assert [(each["outcome"], each["job_ids"]) for each in found] == [("fired", [7, 8]), ("failed", None)]
    assert page.err == f"more: --before {found[-1]['id']}\n"
    older = cli("schedules", "history", "nightly", "--before", str(found[-1]["id"]), "--output", "json").json()
    assert [each["reason"] for each in cast("list[dict[str, Any]]", older)] == ["catch_up_limit", "missed"]
    failed = cli("schedules", "history", "--outcome", "failed", "--output", "json").json()
    assert [each["error"] for each in cast("list[dict[str, Any]]", failed)] == ["the query failed: no\nsuch table"]


def test_a_preview_marks_what_clocks_do(cli: Cli) -> None:
    create(cli, "nightly", "--cron", "30 2 * * *", "--zone", "Europe/Berlin", "--disabled")
    shown = cli("schedules", "preview", "nightly", "--count", "4", *SUMMER_ENDS, "--output", "text")
    assert lines_of(shown) == [
        "nightly  30 2 * * * Europe/Berlin  disabled: none of these is going to fire",
        "",
        "local time  offset  note",
        "Fri 2030-10-25 02:30  +02:00  in <span>",
        "Sat 2030-10-26 02:30  +02:00  in <span>",
        "Sun 2030-10-27 02:30  +02:00  in <span>  its time comes twice: the first",
        "Mon 2030-10-28 02:30  +01:00  in <span>  clocks -1h",
    ]


def test_a_preview_needs_no_schedule(cli: Cli) -> None:
    spring = cli(
        "schedules", "preview", "--cron", "30 2 * * *", "--zone", "America/New_York", "--count", "2",
        "--after", "2030-03-09T12:00:00Z", "--output", "json",
    ).json()  # fmt: skip
    assert [
        (each["local"], each["note"], each["clock_change"]) for each in cast("dict[str, Any]", spring)["ticks"]
    ] == [("2030-03-10T03:00:00-04:00", "moved", 3600.0), ("2030-03-11T02:30:00-04:00", None, 0.0)]
    often = cli("schedules", "preview", "--every", "90s", "--count", "2", "--output", "json").json()
    assert (often["timing"], len(often["ticks"])) == ("every 1m 30s", 2)


def test_a_one_shot_of_the_past_is_previewed_as_due_at_once_unless_what_is_missed_is_skipped(cli: Cli) -> None:
    past = ("--at", "2001-01-01T00:00:00Z", "--output", "text")
    shown = lines_of(cli("schedules", "preview", *past))
    assert shown[0] == "preview  once, <instant>"
    assert any(re.search(r"2001-01-01 00:00 +\+00:00 +due ", line) for line in shown)
    assert "2001-01-01 00:00" in cli("schedules", "create", "late", "echo", *past, "--dry-run").out
    never = cli("schedules", "create", "never", "echo", *past, "--missed", "skip", "--dry-run")
    assert lines_of(never) == ["never  once, <instant>", "no ticks to come"]


def test_a_preview_may_run_the_query(cli: Cli) -> None:
    create(cli, "crawl", "--every", "30d", "--query", "select g as shop from generate_series(1, 3) g")
    shown = lines_of(cli("schedules", "preview", "crawl", "--rows", "2", "--output", "text"))
    assert shown[-3:] == ["its query gives now", '  {"shop":1}', '  {"shop":2}']
    assert cli("schedules", "preview", "--every", "5m", "--rows", "2").code == 2


def test_a_preview_wants_either_a_name_or_times(cli: Cli) -> None:
    for flags in ((), ("nightly", "--every", "5m"), ("--every", "5m", "--count", "0")):
        assert cli("schedules", "preview", *flags).code == 2
    assert "no time zone 'Berlin'" in cli("schedules", "preview", "--cron", "@daily", "--zone", "Berlin").err


def test_a_schedule_that_is_not_there_is_not_found(cli: Cli) -> None:
    for words in (("show", "none"), ("preview", "none"), ("update", "none", "--every", "5m")):
        done = cli("schedules", *words)
        assert (done.code, "there is no schedule 'none'" in done.err) == (3, True), done.err
