from __future__ import annotations

import io
import os
import signal
import socket
import sys
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.interruption import Interruption
from leasehold.cli.runtime.options import CommonOptions
from leasehold.cli.runtime.services import Services
from leasehold.cli.runtime.terminal import Terminal
from leasehold.cli.up.processes import line_writer
from leasehold.cli.up.up import GatewayFinder, child_environment, plan_children
from leasehold.settings import Settings
from tests.leasehold.cli.conftest import Cli, FakeTty
from tests.support.folders import short_folder
from tests.support.processes import StartProcess
from tests.support.waiting import PATIENCE

NAMES = ["up", "gateway", "worker.1"]


def test_each_actor_and_each_worker_is_a_process() -> None:
    children = plan_children(2, {"A": "b"})
    assert [each.name for each in children] == ["gateway", "scheduler", "reaper", "worker.1", "worker.2"]
    assert children[-1].command == [sys.executable, "-m", "leasehold", "run", "worker", "--with-parent"]
    assert children[-1].environ == {"A": "b"}


def test_the_gateway_knows_the_app_of_the_workers() -> None:
    assert plan_children(0, {}, "shop:app")[0].command[3:] == ["gateway", "--app", "shop:app", "--with-parent"]


def test_an_app_that_cannot_be_imported_is_told_before_anything_is_made(run_cli: Cli, tmp_path: Path) -> None:
    done = run_cli(
        "up", "--app", "no_such_shop:app", "--port", "0", environ={"LEASEHOLD_DATA_FOLDER": str(tmp_path / "d")}
    )
    assert (done.code, (tmp_path / "d").exists()) == (2, False)
    assert "there is no module no_such_shop" in done.err


async def test_it_is_up_when_every_process_is() -> None:
    finder = GatewayFinder(Settings(), lambda _name, _line, _level="info": None, ["gateway", "worker.1", "scheduler"])
    finder.show("gateway", "gateway serves http://127.0.0.1:4711")
    finder.show("worker.1", "ERROR    worker: it cannot start")
    finder.show("scheduler", "running scheduler, due jobs")
    with trio.move_on_after(0) as scope:
        await finder.url()
    assert scope.cancelled_caught
    finder.show("worker.1", '{"message":"starting worker pod-1 (calm-fox) for role (all) with 3 slots"}')
    assert await finder.url() == "http://127.0.0.1:4711"


def test_children_get_flags_and_database_by_their_environment() -> None:
    environ = {"PATH": "/bin", "LEASEHOLD_SLOTS": "2", "LEASEHOLD_PROBE_PORT": "8081"}
    terminal = Terminal(io.StringIO(), io.StringIO(), io.StringIO(), environ)
    context = CommandContext(
        terminal, CommonOptions(log_level="debug", config="/x.toml"), Services(), ExitStack(), Interruption()
    )
    settings = Settings(database_url="postgresql://a/b")
    given = child_environment(context, settings, {"slots": "8", "queues": None, "gateway_port": "1"}, as_text=True)
    given.pop("PYTHONUNBUFFERED")
    assert given == {
        "PATH": "/bin",
        "LEASEHOLD_SLOTS": "8",
        "LEASEHOLD_GATEWAY_PORT": "1",
        "LEASEHOLD_LOG_LEVEL": "debug",
        "LEASEHOLD_LOG_FORMAT": "text",
        "LEASEHOLD_CONFIG": "/x.toml",
        "LEASEHOLD_DATABASE_URL": "postgresql://a/b",
        "LEASEHOLD_DIRECT_DATABASE_URL": "postgresql://a/b",
        "LEASEHOLD_WORKERS": "1",
    }
    assert environ == {"PATH": "/bin", "LEASEHOLD_SLOTS": "2", "LEASEHOLD_PROBE_PORT": "8081"}


def test_lines_stand_after_the_name_of_their_process_in_its_colour() -> None:
    plain, coloured, terminal_without = io.StringIO(), FakeTty(), FakeTty()
    for out, environ in ((plain, {}), (coloured, {}), (terminal_without, {"NO_COLOR": "1"})):
        show = line_writer(Terminal(stdout=out, environ=environ), NAMES, as_text=True)
        show("worker.1", "hello")
    assert plain.getvalue() == terminal_without.getvalue() == "worker.1   │ hello\n"
    assert coloured.getvalue() == "\x1b[33mworker.1   │ \x1b[0mhello\n"


def test_colours_go_by_the_plan_and_not_by_who_speaks_first() -> None:
    first, second = FakeTty(), FakeTty()
    for out, order in ((first, NAMES), (second, NAMES[::-1])):
        show = line_writer(Terminal(stdout=out, environ={}), NAMES, as_text=True)
        for name in order:
            show(name, "hello")
    assert sorted(first.getvalue().replace("\r", "").splitlines()) == sorted(
        second.getvalue().replace("\r", "").splitlines()
    )


def test_warnings_and_errors_stand_out_on_a_terminal() -> None:
    out = FakeTty()
    show = line_writer(Terminal(stdout=out, environ={}), NAMES, as_text=True)
    show("worker.1", "18:18:07.843 ERROR   worker: it burns")
    assert out.getvalue().endswith("\x1b[31m18:18:07.843 ERROR   worker: it burns\x1b[0m\n")


def test_json_lines_pass_as_they_are_and_other_lines_become_json() -> None:
    out = io.StringIO()
    show = line_writer(Terminal(stdout=out, environ={}), NAMES, as_text=False)
    show("worker.1", '{"message":"mine"}')
    show("worker.1", "Traceback:")
    first, second = out.getvalue().splitlines()
    assert first == '{"message":"mine"}'
    assert msgspec.json.decode(second, type=dict[str, Any])["message"] == "Traceback:"


def test_what_we_say_of_a_death_is_a_warning_and_seen_as_one() -> None:
    as_json, as_text, coloured = io.StringIO(), io.StringIO(), FakeTty()
    for out, is_text in ((as_json, False), (as_text, True), (coloured, True)):
        line_writer(Terminal(stdout=out, environ={}), NAMES, as_text=is_text)("up", "worker.1 died", "warning")
    assert msgspec.json.decode(as_json.getvalue(), type=dict[str, Any])["level"] == "warning"
    assert as_text.getvalue() == "up         │ WARNING worker.1 died\n"
    assert coloured.getvalue().endswith("\x1b[33mWARNING worker.1 died\x1b[0m\n")


def test_an_address_that_is_taken_is_noticed_before_anything_starts(run_cli: Cli, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_cli("up", "--port", str(port), environ={"LEASEHOLD_DATA_FOLDER": str(data)})
    assert (done.code, done.out, data.exists()) == (2, "", False)
    assert f"the gateway cannot listen on 127.0.0.1:{port} (" in done.err


def test_too_many_workers_are_refused(run_cli: Cli) -> None:
    assert run_cli("up", "--workers", "101").err == "error: --workers must be from 0 to 100, not 101\n"


@pytest.mark.acceptance
def test_one_command_runs_everything_on_embedded_postgres(start_process: StartProcess, run_cli: Cli) -> None:
    with short_folder() as folder:
        environ = {"LEASEHOLD_DATA_FOLDER": str(folder / "data"), "LEASEHOLD_GATEWAY_PORT": "0"}
        environ["LEASEHOLD_GATEWAY_HOST"] = "0.0.0.0"  # so that it makes a token
        process = start_process(["up", "--log-format", "text"], environ, cwd=folder)
        process.wait_for_line("embedded Postgres")
        process.wait_for_line("schema migrated to version")
        port = process.wait_for_line("gateway serves http://").rpartition(":")[2]
        process.wait_for_line("leasehold is up")
        token = process.wait_for_line("  token      lh_").split()[-1]
        process.wait_for_line("starting worker")
        assert run_cli("enqueue", "echo", "--output", "json", environ=environ).json() == {"job_id": 1, "is_new": True}
        process.wait_for_line("completed job 1 of kind echo")
        assert status_of(f"http://127.0.0.1:{port}/readyz") == 200
        assert status_of(f"http://127.0.0.1:{port}/api/jobs/1") == 401
        assert status_of(f"http://127.0.0.1:{port}/api/jobs/1", token) == 200
        checks = run_cli("doctor", "--output", "json", environ=environ).json()
        assert str(folder / "data") in {check["name"]: check for check in checks}["disk"]["detail"]
        seen = process.line_count
        [worker] = run_cli("status", "--output", "json", environ=environ).json()["workers"]
        os.kill(worker["pid"], signal.SIGKILL)
        process.wait_for_line("worker.1 was ended by SIGKILL; starting it again", after=seen)
        process.wait_for_line("starting worker", after=seen)
        assert process.terminate() == 0
        assert "stopping: running jobs may finish" in process.stdout


def status_of(url: str, token: str | None = None) -> int:
    request = urllib.request.Request(url, headers={"authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


async def test_where_it_serves_is_read_in_its_log_or_tried_out_where_that_is_too_quiet() -> None:
    lines: list[str] = []
    loud = GatewayFinder(Settings(), lambda _name, line, _level="info": lines.append(line))
    loud.show("gateway", '{"message":"gateway serves http://127.0.0.1:4711"}')
    assert await loud.url() == "http://127.0.0.1:4711"
    assert len(lines) == 1
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        port = listener.socket.getsockname()[1]
        quiet = GatewayFinder(
            Settings(gateway_port=port, log_level="warning"), lambda _name, _line, _level="info": None
        )
        assert await quiet.url() == f"http://127.0.0.1:{port}"
