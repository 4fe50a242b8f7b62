-- Purpose     Put held jobs back until chains have completed that the handler asked for. The job then runs again,
--             with the chains' outputs in further slots of its blockers, and the attempt does not count.
-- Parameters  incarnation, job_ids, attempts: the identities
--             waits: for each an object with jobs (an array of jobs as in enqueue_jobs, made in the same statement), blockers
--             (as in enqueue_jobs; {"position": n} counts in jobs) and delay (seconds: not before, even when all are done)
-- Returns     only the refused ones, with the reason; busy is one whose row another session holds, to be sent again
-- Errors      LH001 a wait is refused · LH006 a unique job is there already · 55P03 as continue_jobs
-- Tables      jobs (in id order), as add_jobs and add_blockers, job_events (insert), keys as promote_waiting_jobs
create or replace function leasehold.block_jobs(incarnation uuid, job_ids bigint[], attempts integer[], waits jsonb[])
returns table (job_id bigint, reason text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set lock_timeout = '500ms' set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_now    timestamptz := leasehold.clock();
    v_ids    bigint[] := '{}';
    v_keys   text[] := '{}';
    v_queues text[] := '{}';
    v_freed  text[] := '{}';
    v_free   bigint[];
    v_made   bigint[];
    v_open   bigint[];
    v_until  timestamptz;
    v_state  text;
    v_job    record;
begin
    -- All rows are locked before the first new job is written, which may wait for somebody's idempotency key.
    v_free := array(select j.id
                      from (select * from unnest(block_jobs.job_ids, block_jobs.attempts) c(id, attempt) order by c.id) c
                      join leasehold.jobs j on j.id = c.id
                     where j.attempt = c.attempt and j.incarnation = block_jobs.incarnation and j.id = any (block_jobs.job_ids)
                       for update of j skip locked);
    for v_job in
        select distinct on (j.id) j.id, j.attempt, j.key, j.queue, j.worker_id, j.claimed_at, j.started_at, j.chain_id, c.wait
          from unnest(block_jobs.job_ids, block_jobs.attempts, block_jobs.waits) c(id, attempt, wait)
          join leasehold.jobs j on j.id = c.id
         where j.attempt = c.attempt and j.incarnation = block_jobs.incarnation and j.id = any (v_free)
         order by j.id
    loop
        if jsonb_typeof(v_job.wait) is distinct from 'object' or v_job.wait - '{jobs,blockers,delay}'::text[] <> '{}'
           or coalesce(jsonb_typeof(v_job.wait -> 'delay'), 'null') not in ('number', 'null') then
            raise exception using errcode = 'LH001', message = format('job %s: a wait is an object with jobs, blockers and delay', v_job.id);
        end if;
        v_made := array(select a.job_id from leasehold.add_jobs(coalesce(nullif(v_job.wait -> 'jobs', 'null'), '[]'), null, null, null, null, true) a);
        v_open := leasehold.add_blockers(
            coalesce((select jsonb_agg('{}'::jsonb) from generate_series(1, cardinality(v_made))), '[]')
                || jsonb_build_array(jsonb_build_object('blockers', v_job.wait -> 'blockers')),
            v_made || v_job.id, array_fill(false, array[cardinality(v_made)]) || true, null,
            (select coalesce(max(b.slot), 0) from leasehold.job_blockers b where b.job_id = v_job.id),
            array_fill(0, array[cardinality(v_made)])::bigint[] || coalesce(v_job.chain_id, v_job.id));
        v_until := v_now + make_interval(secs => least(greatest(0, (v_job.wait ->> 'delay')::double precision), leasehold.longest_time()));
        v_state := case when v_open is not null then 'blocked' when v_until > v_now then 'scheduled'
                        when v_job.key is null then 'pending' else 'waiting' end;
        update leasehold.jobs j
           set state = v_state, run_at = coalesce(v_until, v_now), pending_at = null, spared_attempts = j.spared_attempts + 1, claimed_at = null,
               started_at = null, heartbeat_at = null, lease_expires_at = null, incarnation = null, worker_id = null
         where j.id = v_job.id;
        insert into leasehold.job_events (job_id, at, event, attempt, claimed_at, started_at, worker_id, message)
        values (v_job.id, v_now, 'blocked', v_job.attempt, v_job.claimed_at, v_job.started_at, v_job.worker_id,
                (select 'waits for ' || n || case n when 1 then ' chain' else ' chains' end
                   from coalesce(jsonb_array_length(nullif(v_job.wait -> 'blockers', 'null')), 0) n));
        v_ids := v_ids || v_job.id;
        v_keys := v_keys || v_job.key;
        v_queues := v_queues || case when v_state = 'pending' then array[v_job.queue] else '{}' end;
        v_freed := v_freed || v_job.queue;
    end loop;
    v_keys := array_remove(v_keys, null);
    if v_keys <> '{}' then
        perform leasehold.promote_waiting_jobs(v_keys);
    end if;
    if v_queues <> '{}' then
        perform leasehold.wake_idle_workers(v_queues);
    end if;
    if v_freed <> '{}' then
        perform leasehold.wake_limited_queues(v_freed);
    end if;
    if cardinality(v_ids) is distinct from cardinality(block_jobs.job_ids) then
        return query
        select r.job_id, r.reason
          from (select array_agg(c.id) as ids, array_agg(c.attempt) as attempts
                  from unnest(block_jobs.job_ids, block_jobs.attempts) c(id, attempt)
                 where c.id <> all (v_ids)) refused
         cross join lateral leasehold.name_refusals(block_jobs.incarnation, refused.ids, refused.attempts) r;
    end if;
end
$$;
