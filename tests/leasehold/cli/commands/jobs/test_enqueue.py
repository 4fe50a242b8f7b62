from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.leasehold.cli.conftest import Cli, Sql
from tests.support.roles import database_with_roles
from tests.support.servers import Server


def test_it_prints_the_id_alone_and_a_record_on_request(cli: Cli) -> None:
    assert cli("enqueue", "echo", '{"text": "hello"}').out == "1\n"
    flags = ("--idempotency-key", "once", "--output", "json")
    assert cli("enqueue", "echo", *flags).json() == {"job_id": 2, "is_new": True}
    again = cli("enqueue", "echo", *flags)
    assert again.json() == {"job_id": 2, "is_new": False}
    assert "nothing was enqueued" in again.err


def test_every_flag_reaches_the_job(cli: Cli, sql: Sql) -> None:
    done = cli(
        "enqueue", "crawl", '{"shop": 7}', "--queue", "q", "--priority", "-5", "--key", "shop-7", "--max-attempts", "3",
        "--metadata", '{"by": "ada"}', "--run-at", "2030-01-31T09:30:00+02:00", "--key-group", "tenant 7",
    )  # fmt: skip
    assert done.code == 0
    columns = "kind, args, queue, priority, key, max_attempts, metadata, run_at at time zone 'UTC', key_group, state"
    assert sql(f"select {columns} from leasehold.jobs") == (
        'crawl|{"shop": 7}|q|-5|shop-7|3|{"by": "ada"}|2030-01-31 07:30:00|tenant 7|scheduled'
    )


def test_an_app_says_what_its_kinds_are_and_refuses_others(
    cli: Cli, sql: Sql, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop_of_enqueue.py").write_text(
        "from leasehold import App\n\napp = App()\n\n\n"
        "@app.kind(queue='mail', max_attempts=7)\nasync def send(to: str) -> None: ...\n"
    )
    monkeypatch.chdir(tmp_path)
    flags = ("--app", "shop_of_enqueue:app")
    assert cli("enqueue", "send", '{"to": "ada"}', *flags).code == 0
    assert "args do not fit send(to)" in cli("enqueue", "send", '{"whom": "ada"}', *flags).err
    assert "no handler is registered" in cli("enqueue", "sned", *flags).err
    assert sql("select queue, max_attempts from leasehold.jobs") == "mail|7"


def declare(sql: Sql, *kinds: str) -> None:
    declared = json.dumps([{"kind": kind} for kind in kinds])
    sql(f"select from leasehold.declare_kinds('{declared}')")


def register_worker(sql: Sql, kinds: str) -> None:
    incarnation = "00000000-0000-0000-0000-000000000001"
    sql(f"select leasehold.register_worker('{incarnation}', 'w', 'h', 7, '1', '{{}}', '{kinds}', 3, true)")


STRANGE = "warning: no app has declared a kind 'send_mial' and no live worker serves it, so its jobs wait"


def test_a_kind_that_nobody_knows_is_enqueued_with_a_warning(cli: Cli, sql: Sql) -> None:
    done = cli("enqueue", "send_mial")
    assert (done.code, done.out, done.err) == (0, "1\n", f"{STRANGE}\n")
    declare(sql, "send_mail", "charge")
    assert cli("enqueue", "send_mial").err == f"{STRANGE}; did you mean send_mail?\n"


def test_a_kind_that_an_app_or_a_live_worker_knows_gets_no_warning(cli: Cli, sql: Sql) -> None:
    declare(sql, "send_mail")
    assert [cli("enqueue", kind).err for kind in ("echo", "dummy", "send_mail")] == ["", "", ""]
    register_worker(sql, "{resize}")
    assert [cli("enqueue", kind).err == "" for kind in ("resize", "reduce")] == [True, False]
    sql("update leasehold.workers set kinds = '{}'")  # it takes every kind
    assert cli("enqueue", "anything").err == ""


def test_who_may_only_enqueue_does_so_without_a_warning(
    run_cli: Cli, postgres_server: Server, template_database: str, testrun_uid: str, worker_id: str
) -> None:
    with database_with_roles(postgres_server, template_database, f"e{testrun_uid[:8]}_{worker_id}_") as roles:
        done = run_cli("enqueue", "send_mial", "--database-url", roles.dsn("producer"))
    assert (done.code, done.out, done.err) == (0, "1\n", "")


def test_a_delay_and_a_deadline_count_from_now(cli: Cli, sql: Sql) -> None:
    cli("enqueue", "echo", "--delay", "1h30m", "--timeout", "1m30s", "--deadline", "2h")
    found = sql("select run_at - created_at, timeout, deadline - created_at from leasehold.jobs")
    assert found == "01:30:00|90|02:00:00"


def test_args_may_come_from_a_file_or_from_standard_input(cli: Cli, sql: Sql, tmp_path: Path) -> None:
    file = tmp_path / "args.json"
    file.write_text('{"text": "from a file"}')
    cli("enqueue", "echo", f"@{file}")
    cli("enqueue", "echo", "@-", stdin='{"text": "from a pipe"}')
    assert sql("select args ->> 'text' from leasehold.jobs order by id") == "from a file\nfrom a pipe"


REFUSED: list[tuple[list[str], str]] = [
    (["echo", "--delay", ""], "'' is no duration"),
    (["echo", "--timeout", ""], "'' is no duration"),
    (["echo", "--deadline", ""], "'' is no duration"),
    (["echo", "--run-at", ""], "'' is no instant"),
    (["echo", "--metadata", ""], "metadata is no JSON"),
    (["echo", "{"], "args is no JSON"),
    (["echo", "@/no/such.json"], "cannot read args from /no/such.json"),
    (["echo", "[1]"], "args must be a JSON object"),
    (["echo", "[" * 100_000], "args"),
    (["echo", '{"a": "\\u0000"}'], ""),
    (["echo", '{"a": NaN}'], "args is no JSON: NaN"),
    (["echo", '{"a": "\\ud800"}'], "a surrogate without its partner"),
    (["echo", "--metadata", "7"], "metadata must be a JSON object"),
    (["echo", "--delay", "later"], "'later' is no duration"),
    (["echo", "--run-at", "tomorrow"], "'tomorrow' is no instant"),
    (["echo", "--delay", "5s", "--run-at", "2030-01-31T09:30:00Z"], "exclude each other"),
    (["echo", "--priority", "high"], "invalid value for --priority"),
    (["k" * 300], "error: kind must have 1 to 200 bytes, not 300"),
]


def test_bad_input_is_refused_in_one_line_and_nothing_is_written(cli: Cli, sql: Sql) -> None:
    for tokens, complaint in REFUSED:
        done = cli("enqueue", *tokens)
        assert (done.code, done.out) == (2, ""), done.err
        assert complaint in done.err
        assert len(done.err.splitlines()) == 1
        assert len(done.err) < 500
    assert sql("select count(*) from leasehold.jobs") == "0"
