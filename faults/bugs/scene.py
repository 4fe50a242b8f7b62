"""A scene: a few hands on one database, with a clock that only the script moves. Every call is written down as clients do it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
from psycopg.rows import dict_row

from faults.history.collecting import collect
from faults.history.history import History
from faults.history.records import Begin, Call, Entry, Outcome, Over

START = datetime(2999, 1, 1, tzinfo=UTC)
LEASE = 10
Job = Mapping[str, Any]
PATIENCE = 20.0


class Hand:
    """A session of one process. A worker's hand has an incarnation, and calls the functions that workers call."""

    def __init__(self, scene: Scene, name: str, incarnation: UUID) -> None:
        self.scene = scene
        self.name = name
        self.incarnation = incarnation
        self.connection = psycopg.connect(
            scene.dsn, autocommit=True, application_name=name, options=f"-c faults.process={name}"
        )

    def ask(self, sql: LiteralString, *args: object) -> list[dict[str, Any]]:
        """One statement, at the time that it is in the scene."""
        frozen = "" if self.scene.is_real_time else self.scene.now.isoformat()
        self.connection.execute("select set_config('leasehold.frozen_clock', %s, false)", [frozen])
        with self.connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(sql, args or None)
            return cursor.fetchall() if cursor.description else []

    def claim(self, batch: int = 1, queue: str = "default") -> Sequence[Job]:
        """Claim for ten seconds."""
        return self.ask(
            "select * from leasehold.claim_jobs(%s, %s, array[%s], null, %s, make_interval(secs => %s))",
            self.incarnation, self.name, queue, batch, LEASE,
        )  # fmt: skip

    def claim_one(self, queue: str = "default") -> Job:
        """There is one, or the scene is wrong."""
        [job] = self.claim(1, queue)
        return job

    def token(self, job: Job) -> str:
        """What its handler would say of itself."""
        return json.dumps({"token": [job["attempt"], str(self.incarnation)]})

    def complete(self, *jobs: Job) -> list[dict[str, Any]]:
        """As the settler does; the refusals."""
        return self.ask(
            "select * from leasehold.complete_jobs(%s, %s, %s, %s::jsonb[], %s)", self.incarnation, *identities(jobs),
            [self.token(job) for job in jobs], [0.1] * len(jobs),
        )  # fmt: skip

    def fail(self, job: Job, retry_in: float = 0.0) -> None:
        """As the settler does."""
        self.ask(
            "select * from leasehold.fail_jobs(%s, %s, %s, %s::jsonb[], retry_in => %s)", self.incarnation, *identities([job]),
            ['{"type": "ValueError", "message": "no", "traceback": ""}'], [retry_in],
        )  # fmt: skip

    def release(self, job: Job) -> None:
        """Hand it back."""
        self.ask("select * from leasehold.release_jobs(%s, %s, %s)", self.incarnation, *identities([job]))

    def renew(self, job: Job) -> list[dict[str, Any]]:
        """As the keeper does; the refusals."""
        return self.ask(
            "select * from leasehold.renew_leases(%s, %s, %s, %s, %s)", self.incarnation, *identities([job]), [float(LEASE)], [0.1]
        )  # fmt: skip

    def close(self) -> None:
        self.connection.close()


class Scene:
    """Makes hands, moves the clock, and gives the history."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.now = START
        self.is_real_time = False  # once a process of its own takes part
        self.calls: list[Entry] = []
        self._hands: list[Hand] = []
        self._tag = 0
        self.stranger = self.hand("stranger")

    def close(self) -> None:
        """All hands let go."""
        for hand in self._hands:
            hand.close()

    def hand(self, name: str) -> Hand:
        """One that is no worker."""
        made = Hand(self, name, uuid4())
        self._hands.append(made)
        return made

    def worker(self, name: str) -> Hand:
        """One that is registered."""
        made = self.hand(name)
        made.ask(
            "select leasehold.register_worker(%s, %s, 'host', 1, '0', '{}', '{}', 3, false)", made.incarnation, name
        )
        return made

    def later(self, seconds: float) -> None:
        """Time passes."""
        self.now += timedelta(seconds=seconds)

    def enqueue(self, kind: str = "plain", hand: Hand | None = None, **fields: Any) -> int:
        """One job, with a tag; `fields` as enqueue_jobs takes them."""
        self._tag += 1
        metadata = {"tag": self._tag, **({"unique": fields["unique"]["key"]} if "unique" in fields else {})}
        with self.call("enqueue", tags=(self._tag,)) as ids:
            doc = json.dumps([{"kind": kind, "metadata": metadata, **fields}])
            [row] = (hand or self.stranger).ask("select job_id from leasehold.enqueue_jobs(%s::jsonb)", doc)
            ids.append(row["job_id"])
        return ids[0]

    def reap(self) -> None:
        """As a reaper does."""
        self.stranger.ask("select * from leasehold.reap_jobs()")

    @contextmanager
    def call(self, operation: str, *, tags: tuple[int, ...] = (), subject: str | None = None) -> Generator[list[int]]:
        """Write down a call."""
        ids: list[int] = []
        started, outcome = self.now.timestamp(), "unknown"
        try:
            yield ids
            outcome = "ok"
        except psycopg.Error:
            outcome = "fail"
        finally:
            known: Outcome = outcome  # type: ignore[assignment]  # pyright: ignore
            self.calls.append(Call(operation, "scene", started, self.now.timestamp(), known, tags, tuple(ids), subject))

    def at_once(self, work: Callable[[], object], until_blocked: Hand) -> threading.Thread:
        """Begin something on another hand that may have to wait for a lock; returns when it waits or is done."""
        thread = threading.Thread(target=work)
        thread.start()
        pid = until_blocked.connection.info.backend_pid
        deadline = time.monotonic() + PATIENCE
        while thread.is_alive() and time.monotonic() < deadline:
            if self.stranger.ask("select 1 from pg_locks where pid = %s and not granted", pid):
                break
        return thread

    def drain(self) -> None:
        """What a healthy fleet does from now on: leases run out, what waits becomes due, everything is worked off."""
        heir = self.worker("heir")
        for _ in range(5):
            self.later(2 * LEASE)
            self.reap()
            self.stranger.ask("select * from leasehold.unblock_stranded_jobs()")
            self.stranger.ask("select leasehold.make_jobs_due()")
            for queue in ("default", "limited"):
                while jobs := heir.claim(10, queue):
                    heir.complete(*jobs)

    def history(self) -> History:
        """Everything, when the script is over."""
        now = time.time() if self.is_real_time else self.now.timestamp()
        over = Over(now, now, 0)
        begin = Begin(0, START.timestamp(), "a scene", LEASE, 1.0)
        return History([begin, *self.calls, *collect(self.dsn), over])


def identities(jobs: Sequence[Job]) -> tuple[list[int], list[int]]:
    """Ids and attempts."""
    return [job["job_id"] for job in jobs], [job["attempt"] for job in jobs]
