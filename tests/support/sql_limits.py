"""Short ways to limit queues and to look at what limits allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from leasehold.database import Caller, Database, Row
from tests.support.sql_jobs import enqueue_many

PILE = """
insert into leasehold.jobs (created_at, run_at, state, kind, queue, args, key_group)
select clock_timestamp(), clock_timestamp(), 'pending', 'a', $3, '{}', $1 from generate_series(1, $2::int)
"""


async def limit(
    caller: Caller,
    max_running: int | None = None,
    *,
    group: str = "",
    rate: float | None = None,
    burst: int | None = None,
    queue: str = "default",
) -> bool:
    """Call set_limit."""
    return bool(await caller.call_value("set_limit", queue, group, max_running, rate, burst))


async def enqueue_groups(caller: Caller, groups: str | Sequence[str | None], **fields: object) -> list[int]:
    """One job for each group in turn; None: a job without one."""
    return await enqueue_many(caller, [{"kind": "a", "key_group": group, **fields} for group in groups])


async def pile_up_group(caller: Caller, group: str | None, count: int, *, queue: str = "default") -> None:
    """Many pending jobs of one group, written the quick way."""
    await caller.fetch(PILE, group, count, queue)


async def usage(caller: Caller, queue: str = "default") -> dict[str, Row]:
    """What list_limits says, by group."""
    return {row["key_group"]: row for row in await caller.call("list_limits", queue)}


async def groups_of(caller: Caller, jobs: Sequence[Row]) -> list[str | None]:
    """The key groups of claimed jobs, in the order of the rows."""
    rows = await caller.fetch("select id, key_group from leasehold.jobs")
    found = {row["id"]: row["key_group"] for row in rows}
    return [found[job["job_id"]] for job in jobs]


async def shares(caller: Caller, jobs: Sequence[Row]) -> dict[str | None, int]:
    """How many of the claimed jobs each group got."""
    return dict(Counter(await groups_of(caller, jobs)))


WATCH = """
create table public.holds (n bigint generated always as identity, job_id bigint, key_group text, step integer);
create function public.watch_holds() returns trigger language plpgsql as $$
begin
    if old.incarnation is null and new.incarnation is not null then
        insert into public.holds (job_id, key_group, step) values (new.id, new.key_group, 1);
    elsif old.incarnation is not null and new.incarnation is null then
        insert into public.holds (job_id, key_group, step) values (old.id, old.key_group, -1);
    end if;
    return null;
end
$$;
create trigger watch_holds after update or delete on leasehold.jobs for each row execute function public.watch_holds();
"""


async def watch_holds(database: Database) -> None:
    """From now on every claim and every end is noted, in an order in which no end is before a claim that counted on it."""
    await database.execute(WATCH)


async def mark(caller: Caller) -> None:
    """Note that a limit is in force from here on; in the transaction that sets it."""
    await caller.fetch("insert into public.holds (step) values (0)")


async def most_held(caller: Caller, *, since_mark: bool = False) -> dict[str | None, int]:
    """The most that were held at once just after a claim: of each group, and of all under "all"."""
    held: Counter[str | None] = Counter()
    most: Counter[str | None] = Counter()
    counts = not since_mark
    for row in await caller.fetch("select * from public.holds order by n"):
        counts = counts or row["step"] == 0
        for name in ("all", row["key_group"]) if row["step"] else ():
            held[name] += row["step"]
            if counts and row["step"] > 0:
                most[name] = max(most[name], held[name])
    return dict(most)
