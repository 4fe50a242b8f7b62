"""All kinds of faults, and those that this machine does not have, with the reason."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class FaultKind(msgspec.Struct, frozen=True):
    """`number` is that of the fault matrix; `hold` is how long it lasts, from and to (seconds); `weight` how often it comes.
    One that is `alone` has the database to itself: no other such fault at the same time."""

    number: str
    what: str
    hold: tuple[float, float] = (0.0, 0.0)
    weight: int = 2
    alone: bool = False


KINDS: Mapping[str, FaultKind] = {
    "kill worker": FaultKind("F1", "SIGKILL, started again", weight=6),
    "kill all workers": FaultKind("F1", "SIGKILL to every worker at once", weight=1),
    "term worker": FaultKind("F2", "SIGTERM, drained, started again", weight=3),
    "term worker twice": FaultKind("F2", "SIGTERM, and a second one"),
    "stop worker": FaultKind("F3", "SIGSTOP for longer than a lease, then SIGCONT", (3.5, 7.0), weight=4),
    "stop worker shortly": FaultKind("F3", "SIGSTOP for less than a lease", (0.2, 1.5)),
    "block loop": FaultKind("F4", "a handler blocks the event loop for longer than a lease", (3.5, 6.0)),
    "hang keeper": FaultKind("F5", "the thread that renews leases hangs", weight=1),
    "kill reaper": FaultKind("F6", "SIGKILL"),
    "kill scheduler": FaultKind("F6", "SIGKILL"),
    "kill gateway": FaultKind("F6", "SIGKILL"),
    "stop reaper": FaultKind("F6", "SIGSTOP, then SIGCONT", (1.0, 6.0)),
    "stop scheduler": FaultKind("F6", "SIGSTOP, then SIGCONT", (1.0, 6.0)),
    "restart postgres": FaultKind("F8", "pg_ctl restart -m fast", alone=True),
    "crash postgres": FaultKind("F8", "pg_ctl restart -m immediate", alone=True),
    "kill postmaster": FaultKind("F8", "SIGKILL to the postmaster, started again", weight=1, alone=True),
    "kill backend": FaultKind("F8", "SIGKILL to one backend", weight=1, alone=True),
    "postgres away": FaultKind("F8", "stopped for longer than a lease", (3.5, 6.0), weight=1, alone=True),
    "fail over": FaultKind("F10", "a synchronous standby takes the place of the primary", weight=1, alone=True),
    "terminate all": FaultKind("F9", "pg_terminate_backend on every connection"),
    "terminate some": FaultKind("F9", "pg_terminate_backend on one connection after the other", (1.0, 3.0)),
    "terminate listeners": FaultKind("F9", "pg_terminate_backend on those that listen"),
    "cancel statements": FaultKind("F22", "pg_cancel_backend on what runs", (0.5, 2.0)),
    "cut requests": FaultKind("F12", "connections break before Postgres hears the statement", weight=3),
    "cut replies": FaultKind("F12", "Postgres commits, and the answer is lost", weight=5),
    "cut client": FaultKind("F12", "the same for clients that enqueue", weight=3),
    "half open": FaultKind("F13", "nothing goes through, and nobody is told", (1.0, 6.0), weight=3),
    "half open replies": FaultKind("F13", "nothing comes back", (1.0, 6.0)),
    "deaf listener": FaultKind("F13", "the LISTEN connection goes silent", (1.0, 5.0)),
    "partition": FaultKind(
        "F14", "connections break and new ones are refused, for longer than a lease", (3.5, 7.0), weight=3
    ),
    "latency": FaultKind("F15", "each message takes up to 200 ms longer", (1.0, 5.0)),
    "narrow line": FaultKind("F15", "32 kilobytes a second", (1.0, 4.0)),
    "wrong clock": FaultKind("F16", "a worker whose wall clock is off by hours"),
    "no connections left": FaultKind("F17", "max_connections are taken", (1.0, 4.0), alone=True),
    "lost notices": FaultKind("F19", "NOTIFY does not arrive", (2.0, 5.0)),
    "flood of notices": FaultKind("F19", "thousands of NOTIFY a second", (0.5, 2.0)),
    "old snapshot": FaultKind("F20", "a transaction that stays open and holds back vacuum", (4.0, 10.0)),
    "locked table": FaultKind("F21", "LOCK TABLE jobs", (0.2, 1.5), alone=True),
    "locked rows": FaultKind("F21", "a stranger locks rows of held jobs", (1.0, 5.0)),
    "vacuum": FaultKind("F21", "VACUUM (FREEZE, ANALYZE) of jobs"),
    "deadlocks": FaultKind("F22", "one statement in ten ends with 40P01 or 40001", (1.0, 3.0)),
    "slow commits": FaultKind("F24", "each commit takes 50 ms longer", (1.0, 4.0)),
    "poison": FaultKind("F26", "a job that ends its process: exit, abort, segfault", weight=1),
    "herd": FaultKind("F30", "two thousand jobs due at one moment"),
    "slowloris": FaultKind("F34", "fifty requests to the gateway that never end", (1.0, 4.0)),
    "big ids": FaultKind("F35", "ids pass 2^31, later 2^53", weight=1),
}

ALWAYS: Mapping[str, str] = {
    "F7": "two reapers and two schedulers run at all times",
    "F27": "payloads that are refused are in the load",
    "F28": "hostile keys are in the load",
    "F31": "cancels, retries, edits, pauses and completions from outside race with the work at all times",
    "F32": "handlers that raise, that swallow their cancellation and that never succeed are in the load",
    "F33": "a process that ends is started again after 0.2 s, however often",
}
ELSEWHERE: Mapping[str, str] = {
    "F11": "two primaries at once, or a standby that lacks commits: the model of the protocol, and tests with a standby",
    "F18": "PgBouncer: tests/faults/test_pooler.py",
    "F29": "unknown kinds and two versions side by side: tests of their own",
}
NOT_POSSIBLE: Mapping[str, str] = {
    "F23": "a full disk needs a file system of its own, so the right to mount one",
    "F25": "a lost fsync needs a file system that forgets (LazyFS), or a machine whose power can be cut",
}
