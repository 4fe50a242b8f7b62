"""What clients ask for next: a pure choice from a seed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Literal

import msgspec

from leasehold import NewJob, Unique, ended

How = Literal["enqueue_many", "http_enqueue", "transaction", "rolled_back", "idempotent", "refused"]
WAYS: dict[How, int] = {
    "enqueue_many": 20,
    "http_enqueue": 4,
    "transaction": 3,
    "rolled_back": 2,
    "idempotent": 3,
    "refused": 1,
}
HOSTILE = ("'; drop table leasehold.jobs --", 'a"b\\c', "%s%n{0}", "ключ 鍵 🗝", "x" * 200)
LIMITED, GROUPED, RATED, PAUSED = "limited", "grouped", "rated", "paused"
MAX_RUNNING, MAX_OF_GROUP, RATE, BURST = 4, 2, 40.0, 8


class Ask(msgspec.Struct, frozen=True):
    """A call that makes jobs; `tags` are those of all jobs in it, `key` its idempotency key."""

    how: How
    jobs: Sequence[NewJob[Any]]
    tags: tuple[int, ...]
    key: str | None = None


class Mix:
    """Draws calls. `made` are ids of jobs that were acknowledged lately, to wait for or to change."""

    def __init__(self, seed: int) -> None:
        self._dice = Random(seed)
        self._tag = 0
        self._tags: list[int] = []
        self.made: deque[int] = deque(maxlen=2000)

    def next(self, most: int) -> Ask:
        """The next call; up to `most` jobs at once, where it makes many."""
        [how] = self._dice.choices(list(WAYS), list(WAYS.values()))
        self._tags = []
        count = self._dice.randint(1, most) if how == "enqueue_many" else self._dice.randint(1, 3)
        if how in ("idempotent", "refused"):
            count = 1
        jobs = [self._job() for _ in range(count)]
        if how == "refused":
            jobs = [self._refused()]
        if how == "idempotent":
            self._tags = []
            jobs = [self._plain()]
            key = f"request {self._dice.getrandbits(40)}"
            jobs = [jobs[0].but(idempotency_key=key)]
            return Ask(how, jobs, tuple(self._tags), key)
        if how == "http_enqueue":
            self._tags = []
            jobs = [self._plain() for _ in range(count)]
        return Ask(how, jobs, tuple(self._tags))

    def herd(self, count: int, delay: float) -> Ask:
        """Many jobs that are due at one moment."""
        self._tags = []
        return Ask("enqueue_many", [self._plain().but(delay=delay) for _ in range(count)], tuple(self._tags))

    def alone(self, kind: str, **args: Any) -> Ask:
        """One job of a kind."""
        self._tags = []
        return Ask("enqueue_many", [self._new(kind, **args)], tuple(self._tags))

    def some_job(self) -> int | None:
        """One of the jobs made lately."""
        return self._dice.choice(list(self.made)[-60:]) if self.made else None

    def chance(self, share: float) -> bool:
        """True so often."""
        return self._dice.random() < share

    def seconds(self, most: float) -> float:
        """A span."""
        return self._dice.random() * most

    def _job(self) -> NewJob[Any]:
        makers: dict[Callable[[], NewJob[Any]], int] = {
            self._plain: 60,
            self._slow: 8,
            self._failing: 6,
            self._effect: 12,
            self._keyed: 14,
            self._chain: 6,
            self._blocked: 6,
            self._unique: 8,
            self._limited: 8,
            self._delayed: 8,
        }
        [make] = self._dice.choices(list(makers), list(makers.values()))
        return make()

    def _new(self, kind: str, metadata: dict[str, Any] | None = None, **args: Any) -> NewJob[Any]:
        self._tag += 1
        self._tags.append(self._tag)
        return NewJob(kind=kind, args=args, metadata={"tag": self._tag, **(metadata or {})})

    def _plain(self) -> NewJob[Any]:
        return self._new("plain").but(priority=self._dice.choice([0, 0, 0, 1, -1]))

    def _slow(self) -> NewJob[Any]:
        kind = self._dice.choice(["linger", "linger", "in_thread"])
        return self._new(kind, seconds=round(self._dice.random() * 0.5, 3))

    def _failing(self) -> NewJob[Any]:
        if self.chance(0.2):
            return self._new("hopeless").but(max_attempts=2)
        return self._new("swallow") if self.chance(0.2) else self._new("stumble", times=self._dice.choice([1, 2]))

    def _effect(self) -> NewJob[Any]:
        kind = self._dice.choice(["pay", "pay", "pay_atomic", "pay_in_thread", "pay_and_go_on"])
        return self._new(kind, links=self._dice.randint(0, 2)) if kind == "pay_and_go_on" else self._new(kind)

    def _keyed(self) -> NewJob[Any]:
        key = self._dice.choice(HOSTILE) if self.chance(0.2) else f"key {self._dice.randrange(40)}"
        return (self._plain() if self.chance(0.8) else self._slow()).but(key=key)

    def _chain(self) -> NewJob[Any]:
        return self._new("link", links=self._dice.randint(1, 4))

    def _blocked(self) -> NewJob[Any]:
        blockers: list[Any] = [
            self._chain() if self.chance(0.5) else self._plain() for _ in range(self._dice.randint(1, 3))
        ]
        if self.chance(0.3):
            blockers.append(ended(self._new("hopeless").but(max_attempts=1)))
        if self.made and self.chance(0.5):
            blockers.append(ended(self._dice.choice(list(self.made)[-50:])))
        return self._new("fan_in").but(blockers=blockers)

    def _unique(self) -> NewJob[Any]:
        key = f"unique {self._dice.randrange(60)}"
        made = self._new("linger", {"unique": key}, seconds=round(self._dice.random() * 0.2, 3))
        return made.but(unique=Unique(key=key))

    def _limited(self) -> NewJob[Any]:
        queue = self._dice.choice([LIMITED, GROUPED, RATED, PAUSED])
        made = (self._plain() if self.chance(0.7) else self._slow()).but(queue=queue)
        return made.but(key_group=f"group {self._dice.randrange(5)}") if queue == GROUPED else made

    def _delayed(self) -> NewJob[Any]:
        return self._plain().but(delay=round(self._dice.random() * 3, 3))

    def _refused(self) -> NewJob[Any]:
        made = self._plain()
        how = self._dice.randrange(4)
        if how == 0:
            return msgspec.structs.replace(made, args={"text": "a\x00b"})
        if how == 1:
            return msgspec.structs.replace(made, args={"number": float("nan")})
        if how == 2:
            return msgspec.structs.replace(made, args={"text": "x" * 1_200_000})
        return made.but(delay=-5)
