"""Every fault by its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from faults.inject import database, network, signals, work
from faults.inject.stage import Stage, Targets

Injection = Callable[[Stage], Awaitable[Targets]]

INJECTIONS: Mapping[str, Injection] = {
    "kill worker": signals.kill_worker,
    "kill all workers": signals.kill_all_workers,
    "term worker": signals.term_worker,
    "term worker twice": signals.term_worker_twice,
    "stop worker": signals.stop_worker,
    "stop worker shortly": signals.stop_worker,
    "block loop": work.block_loop,
    "hang keeper": work.hang_keeper,
    "kill reaper": signals.kill_reaper,
    "kill scheduler": signals.kill_scheduler,
    "kill gateway": signals.kill_gateway,
    "stop reaper": signals.stop_reaper,
    "stop scheduler": signals.stop_scheduler,
    "restart postgres": database.restart,
    "crash postgres": database.crash,
    "kill postmaster": database.kill_postmaster,
    "kill backend": database.kill_backend,
    "postgres away": database.away,
    "fail over": database.fail_over,
    "terminate all": database.terminate_all,
    "terminate some": database.terminate_some,
    "terminate listeners": database.terminate_listeners,
    "cancel statements": database.cancel_statements,
    "cut requests": network.cut_requests,
    "cut replies": network.cut_replies,
    "cut client": network.cut_client,
    "half open": network.half_open,
    "half open replies": network.half_open_replies,
    "deaf listener": network.deaf_listener,
    "partition": network.partition,
    "latency": network.latency,
    "narrow line": network.narrow_line,
    "wrong clock": signals.wrong_clock,
    "no connections left": database.no_connections_left,
    "lost notices": network.lost_notices,
    "flood of notices": database.flood,
    "old snapshot": database.old_snapshot,
    "locked table": database.locked_table,
    "locked rows": database.locked_rows,
    "vacuum": database.vacuum,
    "deadlocks": database.deadlocks,
    "slow commits": database.slow_commits,
    "poison": work.poison,
    "herd": work.herd,
    "slowloris": work.slowloris,
    "big ids": database.big_ids,
}
