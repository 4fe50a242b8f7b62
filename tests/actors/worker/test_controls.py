"""Workers that are told what to do, by SQL, and that hold themselves back."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import trio

from leasehold import App, Job, checkpoint
from leasehold.actors.leases import dispatcher
from leasehold.actors.worker import backpressure
from leasehold.actors.worker import machine as meter
from leasehold.actors.worker.machine import Reading
from leasehold.errors import WrongState
from leasehold.records.workers import CommandRecord, WorkerRecord
from tests.support.machines import FakeResources
from tests.support.process_app import app as process_app
from tests.support.waiting import PATIENCE, eventually, until
from tests.support.working import Working, working


class Stage:
    """An app whose handlers wait until the test lets them go."""

    def __init__(self) -> None:
        self.app = App(version="7.1")
        self.running: set[int] = set()
        self.most = 0
        self.go = trio.Event()
        self.app.kind("act")(self.act)

    async def act(self, job: Job) -> str:
        self.running.add(job.id)
        self.most = max(self.most, len(self.running))
        try:
            await self.go.wait()
        finally:
            self.running.discard(job.id)
        return "done"


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def told(running: Working, command: str, **args: int) -> CommandRecord:
    """What became of a command to w1."""
    return await running.client.commands.wait(await running.client.workers.command("w1", command, args))


async def shown(running: Working, **fields: Any) -> WorkerRecord:
    """The worker, once its row shows these fields."""

    async def probe() -> WorkerRecord | None:
        worker = await running.client.workers.get("w1")
        return worker if all(getattr(worker, name) == value for name, value in fields.items()) else None

    return await eventually(probe)


async def test_a_paused_worker_claims_nothing_and_what_runs_goes_on(database_url: str, stage: Stage) -> None:
    async with working(database_url, stage.app, heartbeat_seconds=600.0, poll_seconds=60.0) as running:
        first = await running.client.enqueue("act")
        await until(lambda: stage.running == {first})
        paused = await told(running, "pause")
        assert (paused.state, paused.result) == ("done", {"state": "paused", "running": [first]})
        second = await running.client.enqueue("act")
        await shown(running, state="paused")
        await running.client.queues.wake()
        stage.go.set()
        assert (await running.finished(first)).state == "completed"
        assert [each.reason for each in await running.client.jobs.explain(second)] == ["paused_workers"]
        resumed = await told(running, "resume")
        assert resumed.result == {"state": "ready", "running": []}
        assert (await running.finished(second)).state == "completed"


async def test_a_decommissioned_worker_ends_what_runs_hands_back_the_rest_and_leaves(
    database_url: str, stage: Stage
) -> None:
    async with working(database_url, stage.app, slots=1) as running:
        first = await running.client.enqueue("act")
        await until(lambda: stage.running == {first})
        answer = await told(running, "decommission")
        assert answer.result == {"state": "draining", "running": [first]}
        second = await running.client.enqueue("act")
        await shown(running, state="draining")
        for command in ("pause", "resume"):
            refused = await told(running, command)
            assert (refused.state, refused.error) == ("failed", "worker w1 is draining")
        stage.go.set()
        await running.stopped()
        assert [(await running.client.get(each)).state for each in (first, second)] == ["completed", "pending"]
        assert (await running.client.workers.get("w1")).state == "stopped"
        with pytest.raises(WrongState, match="worker w1 has ended"):
            await running.client.workers.command("w1", "pause")


async def test_slots_come_and_go(database_url: str, stage: Stage) -> None:
    async with working(database_url, stage.app, slots=2) as running:
        jobs = [await running.client.enqueue("act") for _ in range(12)]
        await until(lambda: len(stage.running) == 2)
        assert (await told(running, "set_concurrency", slots=5)).result == {"was": 2, "slots": 5}
        await until(lambda: len(stage.running) == 5)
        await shown(running, slots=5, active_jobs=5)
        assert (await told(running, "set_concurrency", slots=1)).result == {"was": 5, "slots": 1}
        assert len(stage.running) == 5
        stage.most = 0
        stage.go.set()
        for job in jobs:
            assert (await running.finished(job)).state == "completed"
        await until(lambda: len(running.worker.parts.roster.slots) == 1)
        stage.go = trio.Event()
        jobs = [await running.client.enqueue("act") for _ in range(3)]
        await until(lambda: len(stage.running) == 1)
        assert (await told(running, "set_concurrency", slots=3)).result == {"was": 1, "slots": 3}
        await until(lambda: len(stage.running) == 3)
        stage.go.set()


async def test_a_job_that_it_runs_is_cancelled_and_no_other(database_url: str, stage: Stage) -> None:
    async with working(database_url, stage.app) as running:
        job = await running.client.enqueue("act")
        await until(lambda: stage.running == {job})
        other = await running.client.enqueue("nobody's")
        refused = await told(running, "cancel_job", job_id=other)
        assert (refused.state, refused.error) == ("failed", f"worker w1 does not hold job {other}")
        assert (await told(running, "cancel_job", job_id=job)).state == "done"
        await until(lambda: not stage.running)
        cancelled = await running.client.get(job)
        assert (cancelled.state, cancelled.error["message"]) == ("cancelled", "by a command to worker w1")
        assert (await running.client.get(other)).state == "pending"


async def test_slots_whose_handlers_cannot_be_stopped_are_shown_as_long_as_they_run(database_url: str) -> None:
    app, may_end = App(), threading.Event()

    @app.kind(runs="thread")
    def deaf() -> None:
        may_end.wait(PATIENCE)

    try:
        async with working(database_url, app, slots=2, heartbeat_seconds=600.0, poll_seconds=60.0) as running:
            jobs = [await running.client.enqueue("deaf") for _ in range(2)]
            await until(lambda: len(list(running.worker.parts.roster.running())) == 2)
            for job in jobs:
                await running.client.cancel(job)
            await shown(running, stray_handlers=2, active_jobs=0)
            third = await running.client.enqueue("deaf")
            [reason] = await running.client.jobs.explain(third)
            assert reason.reason == "busy"
            assert "2 of their slots are held by handlers that still run" in reason.explanation
            may_end.set()
            await shown(running, stray_handlers=0)
            assert (await running.finished(third)).state == "completed"
    finally:
        may_end.set()


async def wait_deep_down() -> None:
    await trio.sleep_forever()


def stuck_in_a_thread(name: str) -> None:
    while not checkpoint_passed():
        time.sleep(0.01)


def checkpoint_passed() -> bool:
    checkpoint()
    return False


async def test_stacks_tell_where_handlers_are_in_every_flavour(database_url: str, tmp_path: Path) -> None:
    import asyncio

    app = App()
    app.merge(process_app)

    @app.kind()
    async def in_trio() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait_deep_down)

    @app.kind(runs="asyncio")
    async def in_asyncio() -> None:
        async def deeper() -> None:
            await asyncio.sleep(600)

        await asyncio.gather(deeper(), asyncio.sleep(600))

    @app.kind()
    def in_a_thread() -> None:
        stuck_in_a_thread("x")

    @app.kind(runs="asyncio")
    async def beside() -> None:
        await asyncio.sleep(600)

    async with working(database_url, app, slots=6, lease_seconds=60.0, renew_seconds=10.0) as running:
        await running.ready()
        places = {"place": str(tmp_path / "here"), "then": str(tmp_path / "never")}
        kinds: dict[str, dict[str, Any]] = {
            "in_trio": {},
            "in_asyncio": {},
            "in_a_thread": {},
            "wait_for": places,
            "beside": {},
        }
        jobs = {kind: await running.client.enqueue(kind, args) for kind, args in kinds.items()}

        async def seen() -> dict[str, str] | None:
            answer = await told(running, "dump_stacks")
            stacks = {each["kind"]: each["stack"] for each in answer.result["stacks"]}
            is_deep = "checkpoint_passed" in stacks.get("in_a_thread", "") or "stuck" in stacks.get("in_a_thread", "")
            return stacks if is_deep and "in wait_for" in stacks.get("wait_for", "") and len(stacks) == 5 else None

        stacks = await eventually(seen)
        assert "wait_deep_down" in stacks["in_trio"]
        assert "in in_trio" in stacks["in_trio"]
        assert "in in_asyncio" in stacks["in_asyncio"]
        assert "in deeper" in stacks["in_asyncio"]
        assert "beside" not in stacks["in_asyncio"]
        assert "slot.py" not in "".join(stacks.values())
        only = await told(running, "dump_stacks", job_id=jobs["in_trio"])
        assert [each["job_id"] for each in only.result["stacks"]] == [jobs["in_trio"]]
        refused = await told(running, "dump_stacks", job_id=999)
        assert refused.error == "worker w1 does not hold job 999"


async def test_above_its_memory_limit_a_worker_claims_nothing_more_and_resumes_by_itself(
    database_url: str, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backpressure, "LOOK_SECONDS", 0.05)
    resources = FakeResources()
    async with working(
        database_url, stage.app, read=resources.read, memory_backoff=0.85, backoff_seconds=0.2, slots=2
    ) as running:
        first = await running.client.enqueue("act")
        await until(lambda: stage.running == {first})
        resources.memory = 0.87
        worker = await shown(running, backoff="memory 87 % of 2.0 GiB (limit 85 %)")
        assert worker.memory == pytest.approx(0.87, abs=0.001)
        assert worker.memory_limit == 2 * 2**30
        looks = resources.looks
        second = await running.client.enqueue("act")
        await until(lambda: resources.looks >= looks + 3)
        assert stage.running == {first}
        stage.go.set()
        assert (await running.finished(first)).state == "completed"
        assert (await running.client.get(second)).state == "pending"
        assert [each.reason for each in await running.client.jobs.explain(second)] == ["backing_off"]
        resources.memory = 0.5
        assert (await running.finished(second)).state == "completed"
        await shown(running, backoff=None, app_version="7.1")


async def test_jobs_go_on_in_batches_while_other_programs_keep_the_cpu_busy(
    database_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "leasehold.actors")

    def said(words: str) -> int:
        return sum(record.getMessage().startswith(words) for record in caplog.records)

    class Busy(FakeResources):
        def read(self) -> Reading:
            self.cpu_seconds += 3600.0  # more than there can be: all of it, whenever it is read
            return super().read()

    monkeypatch.setattr(backpressure, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(meter, "SMOOTH_SECONDS", 0.01)
    monkeypatch.setattr(meter, "SHORTEST_SPAN", 0.001)
    app = App()

    @app.kind()
    async def short() -> None: ...

    async with working(database_url, app, read=Busy().read, cpu_backoff=0.9, backoff_seconds=0.2, slots=1) as running:
        await until(lambda: said("claiming all the same: CPU ") == 1)
        assert said("backing off: CPU ") == 1
        jobs = [await running.client.enqueue("short") for _ in range(3)]
        for job in jobs:
            assert (await running.finished(job)).state == "completed"
        await until(lambda: said("backing off") >= 2)


def three_in_hand(slots: int, busy: int, backlog: int, *_: float) -> int:
    """Fetch ahead, as where jobs are fast, and leave something for others."""
    return max(0, 3 - busy - backlog)


async def test_a_paused_queue_is_left_by_every_worker_and_what_had_not_begun_is_handed_back(
    database_url: str, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "claim_size", three_in_hand)
    monkeypatch.setattr(dispatcher, "HAND_BACK_AFTER", 3600.0)
    async with (
        working(database_url, stage.app, slots=1, worker_id="w1") as one,
        working(database_url, stage.app, slots=1, worker_id="w2") as two,
    ):
        fleet = (one, two)
        for each in fleet:
            await each.ready()
        jobs = [await one.client.enqueue("act", queue="crawl") for _ in range(30)]
        await until(lambda: all(len(each.worker.parts.holdings) == 3 for each in fleet))
        await one.client.queues.pause("crawl")
        await until(lambda: all(len(each.worker.parts.holdings) == 1 for each in fleet))
        assert len(stage.running) == 2
        for job in set(jobs) - stage.running:
            await one.in_state(job, "pending")
        stage.go.set()
        await until(lambda: not any(each.worker.parts.holdings for each in fleet))
        assert {count.state: count.jobs for count in await one.client.metrics.counts()} == {
            "pending": 28,
            "completed": 2,
        }
        stage.go = trio.Event()
        await one.client.queues.resume("crawl")
        await until(lambda: len(stage.running) == 2)
        stage.go.set()


async def test_a_command_that_this_version_does_not_know_is_refused(database_url: str, stage: Stage) -> None:
    async with working(database_url, stage.app) as running:
        await running.ready()
        await running.database.execute(
            "insert into leasehold.worker_commands (incarnation, command, args, created_at, expires_at) "
            "select incarnation, 'dance', '{\"steps\": 3}', now(), now() + interval '1 hour' from leasehold.workers"
        )
        running.worker.presence.beat_soon()
        answer = await running.client.commands.wait(1)
        assert (answer.state, answer.error) == ("failed", "this worker knows no command dance with args {'steps': 3}")
