"""An account of everything that was ever accepted about a job, kept by triggers that leasehold does not know of."""

from __future__ import annotations

from leasehold.database import Database

TRIGGERS = """
create table public.accepted (job_id bigint, attempt integer, event text, at timestamptz default clock_timestamp());
create function public.note_finished() returns trigger language plpgsql as $$
begin insert into public.accepted values (new.id, new.attempt, new.state); return new; end $$;
create function public.note_event() returns trigger language plpgsql as $$
begin insert into public.accepted values (new.job_id, new.attempt, new.event); return new; end $$;
create trigger note after insert on leasehold.finished_jobs for each row execute function public.note_finished();
create trigger note after insert on leasehold.job_events for each row execute function public.note_event()
"""


async def install_audit(database: Database) -> None:
    """Keep account from now on."""
    await database.execute(TRIGGERS)


async def accepted(database: Database, job_id: int) -> list[tuple[int, str]]:
    """Attempt and end of each attempt of a job, in the order in which they were accepted."""
    rows = await database.fetch("select attempt, event from public.accepted where job_id = $1 order by at", job_id)
    return [(row["attempt"], row["event"]) for row in rows]


async def check_promises(database: Database, job_ids: list[int]) -> None:
    """Each of these jobs completed, once; no attempt of any job ended twice; no attempt came after the completion."""
    done = await database.fetch(
        "select job_id, count(*) as times from public.accepted where event = 'completed' group by 1"
    )
    completed = {row["job_id"]: row["times"] for row in done}
    wrong = {each: completed.get(each, 0) for each in job_ids if completed.get(each) != 1}
    assert not wrong, (wrong, [await accepted(database, each) for each in wrong])
    assert completed.keys() == set(job_ids), "others completed, too"
    ended_twice = await database.fetch(
        "select job_id, attempt, array_agg(event) from public.accepted group by 1, 2 having count(*) > 1"
    )
    assert ended_twice == []
    too_late = await database.fetch(
        "select c.job_id from public.accepted c join public.accepted o using (job_id)"
        " where c.event = 'completed' and o.attempt > c.attempt"
    )
    assert too_late == []
