-- Purpose     Complete attempts that ended well. The jobs move to finished_jobs with their outputs, and their keys go
--             to the next jobs.
-- Parameters  incarnation, job_ids, attempts: the identities · outputs: JSON or null for each
--             ran_for: seconds since the handler started, for each (null: not known); times are the database's
-- Returns     only those not completed, with the reason: as name_refusals; busy is one whose row another session holds, to be
--             sent again. A repeated call for the same attempts refuses nothing
-- Errors      55P03 another session holds something else that one of them needs for half a second: send them apart
-- Tables      jobs (deleted, in id order), finished_jobs (insert), as close_chains, then keys as promote_waiting_jobs
create or replace function leasehold.complete_jobs(
    incarnation uuid, job_ids bigint[], attempts integer[], outputs jsonb[], ran_for double precision[]
) returns table (job_id bigint, reason text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off set lock_timeout = '500ms'
set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_now    timestamptz := leasehold.clock();
    v_ids    bigint[];
    v_chains bigint[];
    v_keys   text[];
    v_queues text[];
    v_late   record;
    v_awaited boolean;
    v_limits boolean := exists (select from leasehold.limits l where l.max_running is not null);
begin
    -- `= any (job_ids)` repeats the join, so that even a plan made for an empty table never walks the whole of a full one.
    -- A version of a row with no locker but the transaction that made it is free, at no cost; all others are locked below.
    -- Whether anybody waits for these chains is asked here, for nothing, and not in close_chains, which costs a call.
    with ended as (
        delete from leasehold.jobs j
         using (select * from unnest(complete_jobs.job_ids, complete_jobs.attempts, complete_jobs.outputs, complete_jobs.ran_for)
                         e(id, attempt, output, ran_for) order by e.id) e
         where j.id = e.id and j.attempt = e.attempt and j.incarnation = complete_jobs.incarnation
           and j.id = any (complete_jobs.job_ids) and (j.xmax = j.xmin or j.xmax = 0)
        returning j.*, e.output, e.ran_for
    ), moved as (
        insert into leasehold.finished_jobs (id, created_at, run_at, claimed_at, started_at, heartbeat_at, finished_at, incarnation,
               priority, attempt, spared_attempts, max_attempts, state, kind, queue, key, worker_id, args, metadata, error, output,
               chain_id, chain_position, key_group, timeout, deadline, traceparent, crashes)
        select id, created_at, run_at, claimed_at,
               coalesce(started_at, greatest(claimed_at, v_now - make_interval(secs => least(greatest(0, ran_for), leasehold.longest_time())))), heartbeat_at, v_now, incarnation,
               priority, attempt, spared_attempts, max_attempts, 'completed', kind, queue, key, worker_id, args, metadata, null, output,
               chain_id, chain_position, key_group, timeout, deadline, traceparent, crashes
          from ended
        returning id, key, chain_id, queue
    )
    select array_agg(m.id), array_agg(m.key) filter (where m.key is not null), array_agg(m.chain_id) filter (where m.chain_id is not null),
           array_agg(m.queue) filter (where v_limits),
           exists (select from leasehold.chain_waiters)
           or (select b.chain_id from leasehold.job_blockers b where b.chain_id = any (complete_jobs.job_ids) and b.closed_at is null
                order by b.chain_id limit 1) is not null
      into v_ids, v_keys, v_chains, v_queues, v_awaited from moved m;
    if cardinality(v_ids) is distinct from cardinality(complete_jobs.job_ids) then
        with free as materialized (
            select j.id, e.output, e.ran_for
              from (select * from unnest(complete_jobs.job_ids, complete_jobs.attempts, complete_jobs.outputs, complete_jobs.ran_for)
                             e(id, attempt, output, ran_for) order by e.id) e
              join leasehold.jobs j on j.id = e.id
             where j.attempt = e.attempt and j.incarnation = complete_jobs.incarnation and j.id = any (complete_jobs.job_ids)
               for update of j skip locked
        )
        select array_agg(f.id) as ids, array_agg(f.output) as outputs, array_agg(f.ran_for) as ran_for into v_late from free f;
        if v_late.ids is not null then
            select v_ids || array_agg(f.id), v_keys || array_agg(f.key) filter (where f.key is not null),
                   v_chains || array_agg(f.chain_id) filter (where f.chain_id is not null)
              into v_ids, v_keys, v_chains
              from leasehold.finish_jobs(v_late.ids, 'completed', null, v_late.outputs, null, v_late.ran_for, v_now) f;
        end if;
    end if;
    if v_ids is not null and (v_awaited or v_chains is not null) then
        v_keys := v_keys || leasehold.close_chains(v_ids || v_chains, true);
    end if;
    if v_keys <> '{}' then
        perform leasehold.promote_waiting_jobs(v_keys);
    end if;
    if v_queues is not null then
        perform leasehold.wake_limited_queues(v_queues);
    end if;
    if cardinality(v_ids) is distinct from cardinality(complete_jobs.job_ids) then
        return query
        select r.job_id, r.reason
          from (select array_agg(c.id) as ids, array_agg(c.attempt) as attempts
                  from unnest(complete_jobs.job_ids, complete_jobs.attempts) c(id, attempt)
                 where v_ids is null or c.id <> all (v_ids)) refused
         cross join lateral leasehold.name_refusals(complete_jobs.incarnation, refused.ids, refused.attempts) r;
    end if;
end
$$;
