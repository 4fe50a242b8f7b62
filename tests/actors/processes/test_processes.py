"""Handlers in real processes, ended by real signals, without a database."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
import trio

from leasehold.actors.attempts.held_job import SHUTDOWN, HeldJob
from leasehold.actors.attempts.outcome import Completed, Failed, Outcome, Released, Rescheduled
from leasehold.actors.attempts.progress import ProgressBuffer
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.processes import child
from leasehold.actors.processes.deaths import ProcessDied
from leasehold.actors.processes.member import Member
from leasehold.actors.processes.pool import ProcessPool
from leasehold.actors.running.settler import Outcomes
from leasehold.actors.running.slot import Slot, SlotContext
from tests.support.held import LONG_AGO, held_job, line_of
from tests.support.process_app import MEBIBYTE, answer_as_another, app, die_at_once
from tests.support.processes import is_gone
from tests.support.waiting import PATIENCE, until


class Running:
    """A slot with processes."""

    def __init__(self, pool: ProcessPool) -> None:
        self.pool = pool
        self.outcomes = Outcomes()

    async def run_job(self, job: HeldJob) -> None:
        """Run one job in a slot of its own."""
        threads = trio.CapacityLimiter(1)
        await Slot(SlotContext(WorkerIdentity("w1"), threads, line_of(job), self.outcomes, processes=self.pool)).run()

    async def run(self, kind: str, **args: Any) -> Outcome:
        """The outcome of one job."""
        await self.run_job(held(kind, **args))
        (outcome,) = self.settled()
        return outcome

    def settled(self) -> list[Outcome]:
        """What the slots have settled since it was asked last."""
        found = self.outcomes.first(100)
        self.outcomes.remove(len(found))
        return found

    async def pid(self) -> int:
        """Where the next job runs."""
        outcome = await self.run("pid")
        assert isinstance(outcome, Completed)
        return int(outcome.output or 0)


def held(kind: str, **args: Any) -> HeldJob:
    return held_job(7, kind=app.find(kind), args=msgspec.json.encode(args).decode(), metadata='{"by": "ada"}')


@pytest.fixture
async def running() -> AsyncGenerator[Running]:
    """One process at the most."""
    async with ProcessPool(1) as pool:
        yield Running(pool)


async def failure(running: Running, kind: str, **args: Any) -> Failed:
    outcome = await running.run(kind, **args)
    assert isinstance(outcome, Failed)
    return outcome


async def test_a_handler_runs_in_another_process_which_is_used_again_and_ends_with_the_pool() -> None:
    async with ProcessPool(1) as pool:
        running = Running(pool)
        first = await running.pid()
        assert first != os.getpid()
        assert await running.pid() == first
    assert not psutil.pid_exists(first)


async def test_typed_args_and_outputs_go_as_json(running: Running) -> None:
    outcome = await running.run("resize", picture={"name": "a.png", "wait": "PT2S"})
    assert isinstance(outcome, Completed)
    assert msgspec.json.decode(outcome.output or "") == {"name": "a.png", "wait": "PT4S"}
    refused = await failure(running, "resize", picture={"name": 3})
    assert refused.error["type"] == "InvalidArgs"
    long = await running.run("size_of", text="x" * 10_000_000)
    assert isinstance(long, Completed)
    assert long.output == "10000000"


async def test_a_handler_has_the_data_of_its_job(running: Running) -> None:
    outcome = await running.run("about", word="hi")
    assert isinstance(outcome, Completed)
    told = msgspec.json.decode(outcome.output or "")
    assert told == [7, "echo", 1, "w1", {"by": "ada"}, LONG_AGO.isoformat().replace("+00:00", "Z"), "hi"]


@pytest.mark.parametrize(("how", "message"), [("nan", "nan is no JSON"), ("object", "object"), ("long", "is the most")])
async def test_an_output_that_json_cannot_carry_fails_for_good(running: Running, how: str, message: str) -> None:
    failed = await failure(running, "answer", how=how)
    assert (failed.error["type"], failed.discard) == ("InvalidOutput", True)
    assert message in failed.error["message"]


async def test_a_new_job_that_is_returned_as_an_output_fails_for_good(running: Running) -> None:
    failed = await failure(running, "go_on", how="new")
    assert (failed.error["type"], failed.discard) == ("InvalidOutput", True)
    assert "return job.continue_with(" in failed.error["message"]


async def test_no_output_is_null(running: Running) -> None:
    outcome = await running.run("answer", how="none")
    assert isinstance(outcome, Completed)
    assert outcome.output is None


@pytest.mark.parametrize(
    ("how", "type_", "message", "retry_in", "discard"),
    [
        ("plain", "ValueError", "no picture \ufffd here", None, False),
        ("retry", "Retry", "the disk is full", 7.5, False),
        ("discard", "NoSuchPicture", "gone", None, True),
        ("memory", "MemoryError", "by hand", None, False),
        ("exit", "SystemExit", "4", None, False),
    ],
)
async def test_what_a_handler_raises_is_told_as_from_any_other(
    running: Running, how: str, type_: str, message: str, retry_in: float | None, discard: bool
) -> None:
    failed = await failure(running, "fail", how=how)
    assert (failed.error["type"], failed.error["message"]) == (type_, message)
    assert (failed.retry_in, failed.discard) == (retry_in, discard)
    (header, first, *_) = failed.error["traceback"].splitlines()
    assert header == "Traceback (most recent call last):"
    assert re.match(r'  File ".+/process_app\.py", line \d+, in fail$', first), failed.error["traceback"]
    assert "crash" not in failed.error


async def test_a_handler_may_ask_to_run_later(running: Running) -> None:
    outcome = await running.run("fail", how="reschedule")
    assert isinstance(outcome, Rescheduled)
    assert (outcome.after, outcome.at, outcome.reason) == (60.0, None, "not yet")


async def test_a_handler_may_name_the_time_at_which_to_run(running: Running) -> None:
    outcome = await running.run("fail", how="reschedule at")
    assert isinstance(outcome, Rescheduled)
    assert (outcome.after, outcome.at, outcome.reason) == (None, datetime(2999, 1, 1, tzinfo=UTC), "not before then")


@pytest.mark.parametrize(
    ("how", "ended"),
    [("segfault", "was killed by SIGSEGV"), ("exit", "ended with exit code 3"), ("kill", "was killed by SIGKILL (so")],
)
async def test_a_crash_is_a_failed_attempt_and_the_next_job_has_a_new_process(
    running: Running, how: str, ended: str
) -> None:
    before = await running.pid()
    failed = await failure(running, "crash", how=how)
    assert (failed.error["type"], failed.error["crash"], failed.discard) == ("ProcessCrashed", True, False)
    assert f"process {before} of handler tests.support.process_app.crash {ended}" in failed.error["message"]
    assert ("in crash" in failed.error["traceback"]) == (how == "segfault")
    assert await running.pid() != before


async def test_a_process_that_is_killed_while_idle_costs_no_job(running: Running) -> None:
    before = psutil.Process(await running.pid())
    before.kill()
    await until(lambda: is_gone(before.pid))
    assert await running.pid() != before.pid


async def test_no_job_is_blamed_for_a_process_that_could_not_even_start() -> None:
    async def start() -> Member:
        raise ProcessDied(pid=4242, exit_code=1, stack="ImportError: no such library")

    async with ProcessPool(1, start) as pool:
        failed = await failure(Running(pool), "pid")
    assert (failed.error["type"], failed.error["traceback"]) == ("ProcessCrashed", "ImportError: no such library")
    assert "process 4242 for handler tests.support.process_app.pid could not start" in failed.error["message"]
    assert "crash" not in failed.error
    assert not failed.discard


async def test_nor_for_a_real_one_that_dies_while_it_starts(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "prepare", die_at_once)
    failed = await failure(running, "pid")
    assert "could not start: it ended with exit code 9" in failed.error["message"]
    assert "crash" not in failed.error


async def test_a_timeout_kills_the_process(running: Running) -> None:
    before = await running.pid()
    failed = await failure(running, "slow")
    assert failed.error["type"] == "TimedOut"
    assert is_gone(before)
    assert await running.pid() != before


@pytest.mark.parametrize("reason", ["cancelled", SHUTDOWN])
async def test_a_lost_job_kills_its_process_and_the_programs_it_started(
    running: Running, tmp_path: Path, reason: str
) -> None:
    place = tmp_path / "pids"
    job = held("busy", place=str(place), sleeper=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(running.run_job, job)
        await until(place.exists)
        job.lose(reason)
    assert running.settled() == ([Released(job)] if reason == SHUTDOWN else [])
    for pid in map(int, place.read_text().split()):
        await until(lambda pid=pid: is_gone(pid))
    assert await running.pid()


async def test_the_clock_of_a_job_that_waits_for_a_process_stands_still(running: Running, tmp_path: Path) -> None:
    first = held("wait_for", place=str(tmp_path / "runs"), then=str(tmp_path / "end"))
    second = held("slow")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(running.run_job, first)
        await until((tmp_path / "runs").exists)
        nursery.start_soon(running.run_job, second)
        await until(lambda: second.scope is not None)
        assert second.scope is not None
        assert second.scope.deadline == float("inf")
        (tmp_path / "end").touch()
    assert [type(outcome) for outcome in running.settled()] == [Completed, Failed]


async def test_a_process_beyond_its_memory_limit_is_killed_and_told_the_size(running: Running) -> None:
    failed = await failure(running, "hog", mebibytes=400)
    assert (failed.error["type"], failed.error["limit"]) == ("MemoryLimitExceeded", 256 * MEBIBYTE)
    assert failed.error["measured"] > 256 * MEBIBYTE
    assert "its limit is 256 MiB" in failed.error["message"]
    assert "crash" not in failed.error
    assert isinstance(await running.run("hog", mebibytes=8), Completed)


async def test_a_process_that_kept_much_memory_is_replaced_before_a_job_with_a_limit(running: Running) -> None:
    first = await running.run("hog", mebibytes=160, keep=True)
    second = await running.run("hog", mebibytes=8)
    assert isinstance(first, Completed)
    assert isinstance(second, Completed)
    assert first.output != second.output


async def test_signals_to_the_group_of_the_worker_do_not_reach_its_processes(running: Running) -> None:
    pid = await running.pid()
    assert os.getpgid(pid) == os.getsid(pid) == pid
    psutil.Process(pid).terminate()  # a process manager that signals everything in the control group
    assert await running.pid() == pid


async def test_processes_are_the_first_to_go_when_the_kernel_runs_out_of_memory(running: Running) -> None:
    pid = await running.pid()
    assert int(await trio.Path(f"/proc/{pid}/oom_score_adj").read_text()) >= 500


def test_a_worker_without_such_handlers_does_not_import_what_they_need() -> None:
    code = (
        "import sys; from leasehold.actors.worker.worker import Worker; from leasehold.actors.processes.pool import pool_for;"
        "from leasehold.app.registry import builtin_app; assert pool_for(builtin_app(), 3) is None;"
        "print([name for name in ('trio_parallel', 'multiprocessing.process') if name in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True, timeout=PATIENCE).strip() == "[]"


async def test_a_deadline_passes_also_while_the_job_waits_for_a_process(running: Running, tmp_path: Path) -> None:
    first = held("wait_for", place=str(tmp_path / "runs"), then=str(tmp_path / "end"))
    second = held_job(8, kind=app.find("slow"), args="{}", extras='{"deadline_in": 0.2}')
    async with trio.open_nursery() as nursery:
        nursery.start_soon(running.run_job, first)
        await until((tmp_path / "runs").exists)
        await running.run_job(second)
        (outcome,) = running.settled()
        assert isinstance(outcome, Failed)
        assert (outcome.error["type"], outcome.discard) == ("DeadlineExceeded", True)
        (tmp_path / "end").touch()


async def test_a_deadline_kills_the_process(running: Running, tmp_path: Path) -> None:
    before = await running.pid()
    args = msgspec.json.encode({"place": str(tmp_path / "runs"), "then": str(tmp_path / "never")}).decode()
    late = held_job(8, kind=app.find("wait_for"), args=args, extras='{"deadline_in": 600}')
    async with trio.open_nursery() as nursery:
        nursery.start_soon(running.run_job, late)
        await until((tmp_path / "runs").exists)
        assert late.scope is not None
        late.scope.deadline = trio.current_time()
    outcome = running.settled().pop()
    assert isinstance(outcome, Failed)
    assert (outcome.error["type"], outcome.discard) == ("DeadlineExceeded", True)
    assert is_gone(before)


async def test_transactions_are_refused_in_words(running: Running) -> None:
    failed = await failure(running, "prepare_in_a_process")
    assert failed.error["type"] == "BadInput"
    assert "job 7 has no worker at hand for start: it runs in a process of its own" in failed.error["message"]


async def test_outputs_of_blockers_are_refused_in_words_that_hold_for_a_process(running: Running) -> None:
    failed = await failure(running, "read_blockers_in_a_process")
    assert failed.error["type"] == "BadInput"
    assert failed.error["message"].startswith("a handler in a process of its own cannot use the worker's database")


async def test_a_copy_that_a_handler_forks_answers_no_request(running: Running) -> None:
    before = await running.pid()
    for n in range(5):
        outcome = await running.run("convert", n=n)
        assert isinstance(outcome, Completed)
        assert outcome.output == f'"result of {n}"'
    assert await running.pid() == before
    assert (await failure(running, "crash", how="exit")).error["type"] == "ProcessCrashed"


@pytest.mark.parametrize("by", ["python", "c"])
async def test_nor_does_one_that_returns_its_number_and_it_ends_with_a_line_in_the_log(
    running: Running, capfd: pytest.CaptureFixture[str], by: str
) -> None:
    before = await running.pid()
    for _ in range(3):
        outcome = await running.run("fork", by=by)
        assert isinstance(outcome, Completed)
        copy = int(outcome.output or 0)
        assert copy not in {0, before}
        await until(lambda copy=copy: is_gone(copy))
        assert f"forked in process {before} came back from it and was ended" in capfd.readouterr().err
        assert await running.pid() == before


@pytest.mark.parametrize("others", [(1, 0), (0, 1)])
async def test_an_answer_to_another_request_or_of_another_process_is_a_crash(
    running: Running, monkeypatch: pytest.MonkeyPatch, others: tuple[int, int]
) -> None:
    before = await running.pid()
    with monkeypatch.context() as patched:
        patched.setattr(child, "respond", partial(answer_as_another, others=others))
        failed = await failure(running, "pid")
    assert (failed.error["type"], failed.error["crash"]) == ("ProcessCrashed", True)
    assert f"process {before} of handler tests.support.process_app.pid was killed: " in failed.error["message"]
    assert is_gone(before)
    assert await running.pid() != before


@pytest.mark.parametrize("how", ["copy", "program"])
@pytest.mark.parametrize("ends", [True, False])
async def test_what_a_handler_leaves_behind_keeps_nobody_waiting_for_its_end(
    running: Running, tmp_path: Path, how: str, ends: bool
) -> None:
    place = tmp_path / "pids"
    job = held("leave_behind", how=how, place=str(place), ends=ends)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(running.run_job, job)
        await until(place.exists)
        if not ends:
            job.lose("cancelled")
    assert [type(outcome) for outcome in running.settled()] == ([Failed] if ends else [])
    for pid in map(int, place.read_text().split()):
        await until(lambda pid=pid: is_gone(pid))


async def test_a_copy_says_nothing_in_the_name_of_the_job() -> None:
    buffer = ProgressBuffer()
    async with ProcessPool(1, buffer=buffer) as pool:
        await Running(pool).run("speak_twice")
    assert [line.message for line in buffer.lines(10)] == ["this is the process"]
    assert [said.fraction for said in buffer.latest()] == [1.0]
