"""Runs a scene: producers, workers and kills, and what is left when all tasks have ended."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import class_row

from faults.soak.judging import Note, Sample, Task, Verdict, judge
from faults.soak.scenes import Kill, Scene, plan
from faults.soak.workers import Workers, environment

TICK, LOOK = 0.25, 5.0
OVERDUE = 12.5  # with the lease, the 27.5 s of the original
DRAIN = 300.0
AWAY = 3.0  # how long nobody works after the kill of a full worker; as in the original
LEDGER = """
    create table soak_ledger (
        task_id bigint, attempt integer, nonce uuid, pid integer, phase text, at timestamptz default clock_timestamp()
    )
"""
EMPTY = "truncate soak_ledger, leasehold.jobs, leasehold.finished_jobs, leasehold.job_events"
READY = "select count(*) from leasehold.jobs where state in ('pending', 'scheduled')"
OVERDUE_LEASES = (
    "select count(*) from leasehold.jobs where lease_expires_at < clock_timestamp() - make_interval(secs => %s)"
)
LEFT = "select count(*) from leasehold.jobs"
TASKS = """
    select id, substring(kind from '[^.]*$') as name, state, attempt - spared_attempts as charged, created_at, finished_at, attempt
      from leasehold.all_jobs order by id
"""
NOTES = "select task_id, nonce::text, pid, phase, at from soak_ledger order by at"
Say = Callable[[str], None]


class Run:
    """One scene on a database that is there for it alone."""

    def __init__(self, scene: Scene, dsn: str, folder: Path, seed: int, say: Say) -> None:
        self._scene, self._dsn, self._folder, self._seed, self._say = scene, dsn, folder, seed, say
        self._workers = Workers(dsn, folder, scene.workers, scene.slots)
        self._samples: list[Sample] = []
        self._looked = 0.0

    def run(self) -> tuple[Verdict, int, list[int]]:
        """The verdict, how many were killed, and the slots whose worker ended by itself."""
        with psycopg.connect(self._dsn, autocommit=True) as eye:
            eye.execute(EMPTY)
            try:
                enqueued = self._hold(eye) if self._scene.held else self._load(eye)
                self._drain(eye)
            finally:
                self._workers.stop()
            tasks = eye.cursor(row_factory=class_row(Task)).execute(TASKS).fetchall()
            notes = eye.cursor(row_factory=class_row(Note)).execute(NOTES).fetchall()
        killed = frozenset(self._workers.killed)
        return judge(tasks, notes, self._samples, enqueued, killed), len(killed), self._workers.strays

    def _load(self, eye: psycopg.Connection[Any]) -> int:
        """Tasks come and workers die; returns how many tasks came."""
        self._workers.start_all()
        start = time.monotonic()
        producers = [self._producer(number) for number in range(self._scene.producers)]
        kills, due = plan(self._scene, self._seed), list[tuple[float, int]]()
        while any(each.poll() is None for each in producers):
            now = time.monotonic() - start
            while kills and kills[0].at <= now:
                due.append(self._kill(kills.pop(0), now))
            for each in [each for each in due if each[0] <= now]:
                self._workers.start(each[1])
                due.remove(each)
            self._look(eye)
            time.sleep(TICK)
        self._workers.start_all()
        told = [each.communicate()[0] for each in producers]
        return sum(sum(json.loads(each).values()) for each in told)

    def _hold(self, eye: psycopg.Connection[Any]) -> int:
        """The one worker is killed while its slots are full; two tasks wait behind."""
        held = self._scene.held
        script = f"import django; django.setup()\nfrom faults.soak import tasks\nfor _ in range({held}): tasks.slow_hold.enqueue()"
        subprocess.run([sys.executable, "-c", script], env=environment(self._dsn), check=True)
        self._workers.start_all()
        running = "select count(*) from soak_ledger where phase = 'started'"
        while eye.execute(running).fetchone() != (self._scene.slots,):
            time.sleep(TICK)
        self._workers.kill(0)
        time.sleep(AWAY)  # a pace, as those of the kills: it waits for nothing
        self._workers.start_all()
        return held

    def _producer(self, number: int) -> subprocess.Popen[bytes]:
        words = [str(self._scene.rate), str(self._scene.seconds), str(self._seed + 100 + number)]
        command = [sys.executable, "-m", "faults.soak.producing", *words]
        return subprocess.Popen(command, env=environment(self._dsn), stdout=subprocess.PIPE)

    def _kill(self, kill: Kill, now: float) -> tuple[float, int]:
        self._workers.kill(kill.slot)
        self._say(f"{now:.0f} s: SIGKILL to the worker of slot {kill.slot}")
        return now + kill.pause, kill.slot

    def _look(self, eye: psycopg.Connection[Any]) -> None:
        self._workers.replace_strays()
        if time.monotonic() - self._looked < LOOK:
            return
        self._looked = time.monotonic()
        self._samples.append(Sample(_count(eye, READY), _count(eye, OVERDUE_LEASES, OVERDUE), self._workers.rss()))

    def _drain(self, eye: psycopg.Connection[Any]) -> None:
        until = time.monotonic() + DRAIN
        while _count(eye, LEFT) and time.monotonic() < until:
            self._look(eye)
            time.sleep(TICK)


def _count(eye: psycopg.Connection[Any], query: Any, *values: object) -> int:
    row = eye.execute(query, values).fetchone()
    return 0 if row is None else row[0]
