-- Purpose     Judge which job is to blame when the leases of these jobs ran out. It is a crash only if somebody had the
--             database long enough to know: a worker that lives renews at least every third of a lease, so whoever
--             has had the database for less than that cannot tell a dead worker from one that could not reach it.
--             Then nobody is blamed, nor if the worker was draining: its launcher killed it for not ending soon enough.
--             If the worker was heard of after the lease ran out, it stood still: that is no crash,
--             but its jobs become suspects, and a suspect that does it again is charged with the attempt.
--             A job under which a process has died before is a suspect; claim_jobs keeps suspects apart. If one suspect was
--             held, it alone is charged. If several were, nobody is charged, and a crash is counted for each of them.
--             If there was none and a single job was held, that job is charged. Otherwise nobody is charged and all become
--             suspects, so the next crash tells them apart. Leases of one dead worker that run out later belong to
--             the same crash, unless it has claimed jobs since. What was counted is written into the row of the
--             worker, so that a worker that comes back can be excused (excuse_jobs).
-- Parameters  job_ids: jobs whose leases ran out, locked by the caller · present_for: how long the caller has had the database
--             without a break; null: long enough
-- Returns     for each job whether the attempt counts, the crashes that it has to its name now, and whether its worker may
--             still come back and take this crash off it
-- Errors      none
-- Tables      jobs (read), workers (update; a row that somebody else has is left as it is)
-- Source      quarantine of poison pills, as Sidekiq's super_fetch has it, made fair to the neighbours
create or replace function leasehold.blame_jobs(job_ids bigint[], present_for interval default null)
returns table (job_id bigint, is_charged boolean, crashes integer, is_open boolean) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
begin
    return query
    with free as materialized (
        select w.incarnation from leasehold.workers w
         where w.incarnation = any (array(select distinct j.incarnation from leasehold.jobs j where j.id = any (blame_jobs.job_ids)))
           for no key update of w skip locked
    ), known as materialized (
        select w.incarnation, w.state, w.heartbeat_at, w.lost_at, w.blamed_job, w.losses from leasehold.workers w
         where w.incarnation = any (array(select distinct j.incarnation from leasehold.jobs j where j.id = any (blame_jobs.job_ids)))
    ), lost as materialized (
        select j.id, j.attempt, j.incarnation, j.crashes, j.max_attempts, k.incarnation is not null as is_known,
               coalesce(blame_jobs.present_for >= (j.lease_expires_at - s.heard_at) / 3, true) and k.state is distinct from 'draining' as is_seen,
               coalesce(k.heartbeat_at > greatest(j.lease_expires_at, s.heard_at), false) as is_alive,
               (select l.is_charged from unnest(k.losses) l where l.job_id = j.id and l.attempt = j.attempt) as was_charged
          from leasehold.jobs j
         cross join lateral (select coalesce(j.heartbeat_at, j.claimed_at) as heard_at) s
          left join known k on k.incarnation = j.incarnation
         where j.id = any (blame_jobs.job_ids)
    ), held as materialized (
        select h.incarnation, count(*) as jobs, max(h.claimed_at) as last_claim, min(h.id) filter (where h.crashes is not null) as suspect,
               count(h.crashes) as suspects
          from leasehold.jobs h
         where h.state in ('claimed', 'running') and h.incarnation = any (array(select distinct l.incarnation from lost l where l.was_charged is null))
           and not exists (select from lost l where l.id = h.id and l.was_charged is not null)
         group by h.incarnation
    ), dead as materialized (
        select h.incarnation, h.jobs, coalesce(h.last_claim <= k.lost_at, false) as is_same_crash,
               case when h.last_claim <= k.lost_at then k.blamed_job when h.suspects > 1 then 0 else h.suspect end as blamed
          from held h left join known k on k.incarnation = h.incarnation
    ), verdict as materialized (
        select l.id, l.attempt, l.incarnation, l.is_seen, l.is_alive, l.was_charged, l.is_known, l.crashes, d.blamed,
               case when l.was_charged is not null then l.was_charged
                    else l.max_attempts = 1 or l.is_seen and coalesce(d.blamed = l.id, d.jobs = 1 and not d.is_same_crash and not l.is_alive) end as is_charged,
               coalesce(l.was_charged is null and l.is_seen
                        and (d.blamed is null or d.blamed = l.id or d.blamed = 0 and l.crashes is not null), false) as is_counted
          from lost l left join dead d on d.incarnation = l.incarnation
    ), noted as (
        update leasehold.workers w
           set lost_jobs = w.lost_jobs + n.jobs, lost_at = v_now,
               blamed_job = n.blamed, losses = nullif(w.losses || n.losses, '{}'),
               excused = case when w.lost_at > v_now - interval '1 hour' then w.excused end
          from (select v.incarnation, count(*) as jobs, max(v.blamed) filter (where v.is_seen) as blamed,
                       coalesce(array_agg(row(v.id, v.attempt, v.is_charged)::leasehold.loss) filter (where v.is_counted and not v.is_alive), '{}') as losses
                  from verdict v where v.was_charged is null group by v.incarnation) n
         where w.incarnation = n.incarnation and w.incarnation in (select f.incarnation from free f)
    )
    select v.id, v.is_charged,
           case when not v.is_counted then v.crashes when v.is_alive then coalesce(v.crashes, 0) else coalesce(v.crashes, 0) + 1 end,
           v.is_known and (v.is_counted and not v.is_alive or not v.is_seen)
      from verdict v;
end
$$;
