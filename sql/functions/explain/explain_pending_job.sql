-- Purpose     Explain a pending job, for explain_job: which jobs are before it, which workers serve it, and when it
--             is expected to start.
-- Parameters  job: the job · incarnations: of the workers that serve it, one at least · is_stopped: something else keeps it
--             from starting · is_limited: a limit does, for now
-- Returns     as explain_job
-- Errors      none
-- Tables      workers, jobs, queues, limits (read, up to 20,000 entries of the claim index, of each worker as many held jobs as it has slots, of
--             each other queue with max_running so many), as measure_rates, describe_row_holders and describe_queue_holders
create or replace function leasehold.explain_pending_job(job leasehold.all_jobs, incarnations uuid[], is_stopped boolean, is_limited boolean)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    c_most   constant integer := 10000;
    v_ahead  integer := leasehold.count_jobs_ahead(job.queue, job.kind, job, c_most);
    v_others integer;
    v_rate   double precision;
    v_worker record;
    v_strays text := '';
    v_row    text;
    v_queue  text;
begin
    -- A worker says at once how many handlers run on without their jobs; how many jobs it holds the rows know better than it.
    select count(*) as workers, count(*) filter (where w.held + w.strays < w.slots) as idle, sum(w.slots) as slots, sum(w.held)::bigint as active,
           sum(w.strays)::bigint as strays, (array_agg(w.worker_id order by w.worker_id) filter (where w.held + w.strays < w.slots))[1:10] as idle_ids
      into v_worker
      from (select w.worker_id, w.slots, least(w.slots, w.stray_handlers) as strays,
                   (select count(*) from (select from leasehold.jobs j where j.incarnation = w.incarnation and j.state in ('claimed', 'running') limit w.slots) j) as held
              from leasehold.workers w where w.incarnation = any (explain_pending_job.incarnations)) w;
    if v_worker.idle = 0 and v_worker.strays > 0 then
        v_strays := format('; %s of their slots are held by handlers that still run although their jobs are gone (see leasehold workers stacks)', v_worker.strays);
    end if;
    with recursive lane(queue, kind, number) as (
        (select j.queue, j.kind, 1 from leasehold.jobs j where j.state = 'pending' order by j.queue, j.kind limit 1)
        union all
        select n.queue, n.kind, l.number + 1 from lane l
         cross join lateral (select j.queue, j.kind from leasehold.jobs j
                              where j.state = 'pending' and (j.queue, j.kind) > (l.queue, l.kind) order by j.queue, j.kind limit 1) n
         where l.number < 1000
    )
    select least(c_most, coalesce(sum(s.jobs), 0))::integer into v_others
      from (select leasehold.count_jobs_ahead(l.queue, l.kind, job, 1000) as jobs
              from lane l
             where (l.queue, l.kind) <> (job.queue, job.kind)
               and not exists (select from leasehold.queues q where q.queue = l.queue and q.paused_at is not null)
               and not exists (select from leasehold.limits m
                                where m.queue = l.queue and m.key_group = ''
                                  and m.max_running <= (select count(*) from (select from leasehold.jobs h
                                                                               where h.queue = l.queue and h.limited and h.incarnation is not null
                                                                               limit m.max_running) h))
               and exists (select from leasehold.workers w
                            where w.incarnation = any (explain_pending_job.incarnations)
                              and (w.queues = '{}' or l.queue = any (w.queues)) and (w.kinds = '{}' or l.kind = any (w.kinds)))
             limit 20) s;
    if v_ahead + v_others = 0 and not is_stopped and not is_limited and v_worker.idle > 0 then
        v_row := leasehold.describe_row_holders(job.id);
        v_queue := leasehold.describe_queue_holders(job.queue);
        return query
        select 'locked', format('%s, and no worker takes it before that transaction ends', concat_ws('; ', v_row, v_queue)), null::timestamptz,
               jsonb_build_object('row_held_by', v_row, 'queue_held_by', v_queue)
         where v_row is not null or v_queue is not null;
        if not found then
            return query
            select 'idle_worker', format('nothing is in its way: %s worker(s) with a free slot serve it and take it with their next poll', v_worker.idle), null::timestamptz,
                   jsonb_build_object('workers', v_worker.idle_ids);
        end if;
        return;
    end if;
    v_rate := (select r.per_second from leasehold.measure_rates(job.queue, job.kind) r);
    if v_ahead + v_others > 0 then
        return query
        select 'behind', format('%s job(s) of its queue and kind are before it', case when v_ahead = c_most then 'at least ' else '' end || v_ahead)
                         || case when v_others > 0 then format(', and at least %s others that the same workers serve', v_others) else '' end || v_strays, null::timestamptz,
               jsonb_build_object('jobs', v_ahead, 'other_jobs', v_others, 'per_second', v_rate, 'live_workers', v_worker.workers, 'slots', v_worker.slots,
                                  'active_jobs', v_worker.active, 'stray_handlers', v_worker.strays);
    elsif not is_stopped and not is_limited then
        return query
        select 'busy', format('it is the next one: the %s worker(s) that serve it run %s job(s) in %s slot(s) and take it when one is free', v_worker.workers,
                              v_worker.active, v_worker.slots) || v_strays, null::timestamptz,
               jsonb_build_object('live_workers', v_worker.workers, 'slots', v_worker.slots, 'active_jobs', v_worker.active, 'stray_handlers', v_worker.strays);
    end if;
    -- What others that are before it take is not known: no time is better than a wrong one.
    if not is_stopped and v_rate is not null and v_others = 0 and v_worker.strays < v_worker.slots then
        return query
        select 'expected_start', format('at the present rate of %s jobs a second it starts in about %s s', round(v_rate::numeric, 2),
                                        round(((v_ahead + 1) / v_rate)::numeric, 1)),
               leasehold.clock() + make_interval(secs => (v_ahead + 1) / v_rate), jsonb_build_object('per_second', v_rate, 'ahead', v_ahead);
    end if;
end
$$;
