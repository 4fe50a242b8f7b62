-- Purpose     Show what each queue got and did in the last hour, and how much arrived in the last ten minutes. Small
--             tables are counted now, up to this moment; else the rollups tell, up to the last minute that is closed.
-- Parameters  only_queue: only this one; null: all
-- Returns     queue · completed, failed: of the last hour · attempts that ended, with run_seconds and run_squares summed over
--             them · arrivals, retries: of the last ten minutes, or since the queue is known where that is shorter
--             arrival_seconds: how long that is, a minute at least
-- Errors      none
-- Tables      jobs, finished_jobs, job_events (read while they are small), rollups, rollup_totals, rollup_progress (read)
create or replace function leasehold.measure_hour(only_queue text default null)
returns table (queue text, completed bigint, failed bigint, attempts bigint, run_seconds double precision, run_squares double precision,
               arrivals bigint, retries bigint, arrival_seconds double precision) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set plan_cache_mode = force_custom_plan set jit = off as $$
#variable_conflict use_column
declare
    v_all boolean := measure_hour.only_queue is null;
    v_now timestamptz := leasehold.clock();
    v_end timestamptz;
begin
    if leasehold.is_small('jobs') and leasehold.is_small('finished_jobs') and leasehold.is_small('job_events') then
        return query
        with attempts as (
            select f.queue, f.state, date_part('epoch', f.finished_at - coalesce(f.started_at, f.claimed_at)) as run, false as is_recent_retry
              from leasehold.finished_jobs f where f.finished_at >= v_now - interval '1 hour' and (v_all or f.queue = measure_hour.only_queue)
            union all
            select j.queue, null, date_part('epoch', e.at - e.started_at), e.event in ('attempt_failed', 'reaped') and e.at >= v_now - interval '10 minutes'
              from leasehold.job_events e join leasehold.all_jobs j on j.id = e.job_id
             where e.at >= v_now - interval '1 hour' and e.claimed_at is not null and (v_all or j.queue = measure_hour.only_queue)
        ), news as (
            select j.queue, count(*) filter (where j.created_at >= v_now - interval '10 minutes') as arrivals, min(j.created_at) as since
              from leasehold.all_jobs j where v_all or j.queue = measure_hour.only_queue group by 1
        )
        select n.queue, count(*) filter (where a.state = 'completed'), count(*) filter (where a.state = 'failed'), count(a.run), sum(a.run), sum(a.run * a.run),
               n.arrivals, count(*) filter (where a.is_recent_retry), least(600, greatest(60, date_part('epoch', v_now - least(n.since, t.since))))
          from news n left join attempts a on a.queue = n.queue left join leasehold.rollup_totals t on t.queue = n.queue
         group by n.queue, n.arrivals, n.since, t.since;
    else
        -- A value and not a join, so that the plan knows that these are few of the rollups.
        select p.rolled_until into v_end from leasehold.rollup_progress p;
        return query
        select t.queue, sum(r.completed)::bigint, sum(r.failed)::bigint, (select sum(n) from unnest(array_agg(r.runs)) n)::bigint,
               sum(r.run_seconds), sum(r.run_squares),
               coalesce(sum(r.arrivals) filter (where r.starts_at >= v_end - interval '10 minutes'), 0)::bigint,
               coalesce(sum(r.retries) filter (where r.starts_at >= v_end - interval '10 minutes'), 0)::bigint,
               least(600, greatest(60, date_part('epoch', v_end - t.since)))
          from leasehold.rollup_totals t
          join leasehold.rollups r on r.queue = t.queue and r.starts_at >= v_end - interval '1 hour'
         where v_all or (t.queue = measure_hour.only_queue and r.queue = measure_hour.only_queue)
         group by t.queue, t.since;
    end if;
end
$$;
