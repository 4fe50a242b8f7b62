"""On a terminal of 80 columns no word of a table is cut."""

from __future__ import annotations

from datetime import UTC, datetime

from rich.text import Text

from leasehold.checks.verdicts import Check
from leasehold.cli.commands.doctor import view_checks
from leasehold.cli.runtime.terminal import Terminal
from leasehold.cli.views import OneLine, fields_table, shorten, table
from tests.leasehold.cli.conftest import Cli, FakeTty, Sql

QUEUE, KIND, WORKER = "payload-refresh-eu-west", "catalogue.refresh_products", "shop-crawler-7f9c5d8b6-x2v4q"
INCARNATION = "5f0c6a3e-8a1e-4d7b-9a53-0f0c5f3d9b10"
ERROR = '{"type": "ConnectionResetError", "message": "the server hung up", "place": "shop/crawl.py:42 in fetch"}'
# Jobs in each state, a worker with a long name, a paused queue, a schedule, a limit, a declared kind, a token.
DECLARED = f'[{{"kind": "{KIND}", "queue": "{QUEUE}", "priority": 10, "max_attempts": 5}}]'
SEED = f"""
select leasehold.declare_kinds('{DECLARED}', 'shop.jobs:app', '2026.11.27');
select leasehold.register_worker('{INCARNATION}', '{WORKER}', 'node-17.example', 31337, '1.2', '{{{QUEUE}}}', '{{{KIND}}}',
                                 16, true);
do $$ begin
    for n in 1 .. 7 loop
        perform leasehold.enqueue_job('{KIND}', queue => '{QUEUE}', key_group => 'tenant-4711');
    end loop;
    perform leasehold.enqueue_job('{KIND}', queue => '{QUEUE}', run_at => now() + interval '1 hour');
end $$;
select from leasehold.claim_jobs('{INCARNATION}', '{WORKER}', batch => 1);
select from leasehold.fail_jobs('{INCARNATION}', '{{1}}', '{{1}}', array['{ERROR}']::jsonb[], discard => '{{true}}');
select from leasehold.claim_jobs('{INCARNATION}', '{WORKER}', batch => 1);
select leasehold.pause_queue('{QUEUE}', reason => 'the shop is moving to another data centre tonight');
select leasehold.cancel_job(4, reason => 'not needed any more');
select leasehold.set_limit('{QUEUE}', '*', max_running => 100, rate => 10);
select leasehold.command_worker('{WORKER}', 'set_concurrency', '{{"slots": 5}}');
"""
NAMES = {
    ("status",): [QUEUE, WORKER, "ready", "node-17.example:31337"],
    ("jobs", "list"): [QUEUE, KIND, "failed", "cancelled", "scheduled", "pending"],
    ("jobs", "show", "1"): [QUEUE, KIND, WORKER, "failed"],
    ("jobs", "why", "3"): ["paused"],
    ("jobs", "cancel", "--queue", QUEUE, "--dry-run"): [QUEUE, KIND, "pending", "cancelled"],
    ("jobs", "errors", "1"): [WORKER, "ConnectionResetError"],
    ("workers", "list"): [WORKER, QUEUE, "ready"],
    ("workers", "show", WORKER): [WORKER, INCARNATION, QUEUE, KIND, "set_concurrency"],
    ("queues", "list"): [QUEUE],
    ("kinds", "list"): [KIND, QUEUE],
    ("kinds", "show", KIND): [KIND, QUEUE, "shop.jobs:app"],
    ("queues", "limits"): [QUEUE],
    ("chains", "list"): [QUEUE, KIND, "open"],
    ("schedules", "list"): ["refresh-all-catalogues", KIND],
    ("schedules", "show", "refresh-all-catalogues"): ["refresh-all-catalogues", KIND],
    ("tokens", "list"): ["storefront-production"],
    ("tokens", "log"): ["create_token", '"storefront-production",', "enqueue"],
    ("capacity",): [QUEUE],
    ("config", "show"): ["gateway_hidden_keys_by_kind"],
    ("doctor",): ["kinds"],
    ("events",): [QUEUE, KIND],
}


def test_every_command_shows_every_name_whole_on_80_columns(cli: Cli, sql: Sql) -> None:
    sql(SEED)
    zone = "America/Argentina/Buenos_Aires"
    cli("schedules", "create", "refresh-all-catalogues", KIND, "--cron", "0 3 * * *", "--zone", zone)
    cli("tokens", "create", "storefront-production", "--scope", "enqueue,read")
    for command, names in NAMES.items():
        lines = cli(*command, terminal=True, environ={"COLUMNS": "80"}).out.splitlines()
        assert max(map(len, lines)) <= 80, (command, lines)
        assert [name for name in names if not any(name in line for line in lines)] == [], (command, lines)


def test_a_timeline_has_a_line_for_each_event_on_80_columns(cli: Cli, sql: Sql) -> None:
    sql(SEED)
    lines = cli("jobs", "show", "1", terminal=True, environ={"COLUMNS": "80"}).out.splitlines()
    begins = next(number for number, line in enumerate(lines) if line.startswith("at (UTC)"))
    told = [line.split()[3:] for line in lines[begins + 1 : begins + 5]]
    assert told == [
        ["created"],
        *([event, "1", WORKER] for event in ("claimed", "started")),
        ["failed", "1", f"{WORKER}:"],
    ]


def test_a_note_ends_at_a_word_in_a_table_and_is_whole_in_a_block() -> None:
    note = OneLine("ConnectionResetError: the server hung up")
    assert drawn(56, ["mail", "ready", "·", note], cut="note")[1].endswith("  ConnectionResetError: the server …")
    block = drawn(30, ["mail", "ready", "·", note], cut="note")
    assert block[2:] == ["note   ConnectionResetError:", "       the server hung up"]


def test_a_note_is_cut_within_a_word_where_little_would_be_left() -> None:
    assert shorten("ConnectionResetError", 10) == "Connectio…"
    assert shorten("RuntimeError: " + "x" * 150, 30) == "RuntimeError: " + "x" * 15 + "…"
    assert shorten("RuntimeError: no shop" + "x" * 150, 30) == "RuntimeError: no …"


def test_a_note_is_measured_in_cells_and_stays_on_a_line() -> None:
    note = OneLine("RuntimeError: 商店服务器没有响应我们的请求")
    assert drawn(72, ["mail", "ready", "3", note], cut="note")[1:] == [f"mail  ready  3        {note}"]
    assert drawn(56, ["mail", "ready", "3", note], cut="note")[1:] == [
        "mail  ready  3        RuntimeError: 商店服务器没有响应…"
    ]


LONG_WORDS = (
    ("RuntimeError", "x" * 150),
    ("HTTPError", "https://shop.example/catalogue/products/2026-11-29?page=17"),
)


def test_jobs_show_and_list_keep_what_a_long_word_says(cli: Cli, sql: Sql) -> None:
    for error, message in LONG_WORDS:
        sql("select leasehold.enqueue_job('echo', max_attempts => 1)")
        sql(f"select from leasehold.claim_jobs('{INCARNATION}', '{WORKER}', batch => 1)")
        sql(
            f"select from leasehold.fail_jobs('{INCARNATION}', array[(select max(id) from leasehold.jobs)], '{{1}}', "
            f"""array['{{"type": "{error}", "message": "{message}"}}']::jsonb[])"""
        )
    shown = cli("jobs", "show", "2", terminal=True, environ={"COLUMNS": "80"}).out.splitlines()
    assert sum(line.split() == ["at", "(UTC)", "after", "event", "try", "note"] for line in shown) == 1
    wide = cli("jobs", "list", terminal=True, environ={"COLUMNS": "250"}).out
    block = cli("jobs", "list", terminal=True, environ={"COLUMNS": "60"}).out
    for error, message in LONG_WORDS:
        assert f"{error}: {message}" in wide
        assert message in "".join(line.strip() for line in block.splitlines())


def test_the_log_of_tokens_has_a_table_on_80_columns_whatever_the_request(sql: Sql, cli: Cli) -> None:
    sql(
        "insert into leasehold.audit_log (at, actor, action, status, request_id) "
        f"values (now(), 'storefront-production-1', 'POST /api/jobs/bulk/retry', 200, '{INCARNATION}')"
    )
    lines = cli("tokens", "log", terminal=True, environ={"COLUMNS": "80"}).out.splitlines()
    assert lines[0].split() == ["at", "(UTC)", "who", "status", "what"]
    assert INCARNATION in "".join(line[-33:].strip() for line in lines[1:])


def test_no_character_of_a_long_path_is_left_out() -> None:
    path = "/srv/shop/" + "deep/" * 20 + "data"
    found = [Check(name="settings", verdict="advice", detail=f"read from {path}", advice=f"look at {path}")]
    for view in (view_checks(found, datetime.now(UTC)), [fields_table({"folder": path})]):
        out = FakeTty()
        console = Terminal(stdout=out, environ={"COLUMNS": "80", "NO_COLOR": "1"}).console()
        for part in view:
            console.print(part)
        lines = [line.strip() for line in out.getvalue().splitlines()]
        assert "…" not in out.getvalue()
        assert path in "".join(lines)


def drawn(width: int, *rows: list[str | OneLine], cut: str | None = None) -> list[str]:
    """A table of a name, a state and a note."""
    out = FakeTty()
    terminal = Terminal(stdout=out, environ={"COLUMNS": str(width), "NO_COLOR": "1"})
    cells = [[Text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    terminal.console().print(table(["name", "state", "waiting", "note"], cells, cut=cut))
    return [line.rstrip() for line in out.getvalue().splitlines()]


ROW: list[str | OneLine] = ["shop-crawler", "pending", "·", "paused since yesterday"]


def test_the_widest_column_is_wrapped_first_and_between_words() -> None:
    assert drawn(48, ROW) == [
        "name          state    waiting  note",
        "shop-crawler  pending  ·        paused since",
        "                                yesterday",
    ]


def test_columns_with_nothing_in_them_are_left_out_where_that_helps() -> None:
    assert drawn(60, ROW)[0] == "name          state    waiting  note"
    assert drawn(36, ROW) == [
        "name          state    note",
        "shop-crawler  pending  paused since",
        "                       yesterday",
    ]


def test_where_nothing_else_helps_each_row_is_a_block() -> None:
    assert drawn(30, ROW, ["mail", "ready", "·", ""]) == [
        "name   shop-crawler",
        "state  pending",
        "note   paused since yesterday",
        "",
        "name   mail",
        "state  ready",
    ]


def test_only_the_column_that_gives_way_folds_a_long_word() -> None:
    assert drawn(60, ["shop-crawler", "pending", "3", "x" * 40], cut="note") == [
        "name          state    waiting  note",
        f"shop-crawler  pending  3        {'x' * 28}",
        f"                                {'x' * 12}",
    ]
