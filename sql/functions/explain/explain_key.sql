-- Purpose     Explain how the key of a job that nobody holds delays it, for explain_job.
-- Parameters  job: the job
-- Returns     as explain_job; nothing where its key is not in its way
-- Errors      none
-- Tables      jobs (read, the holder and up to 10,000 jobs of the line)
create or replace function leasehold.explain_key(job leasehold.all_jobs)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    c_most   constant integer := 10000;
    v_holder leasehold.jobs;
    v_line   record;
    v_held   boolean;
begin
    select * into v_holder from leasehold.jobs h where h.key = job.key and h.incarnation is not null;
    v_held := found;
    if v_held then
        return query
        select 'key_held', format('key %s is held by job %s (%s): attempt %s on worker %s, its lease until %s', job.key, v_holder.id, v_holder.kind,
                                  v_holder.attempt, v_holder.worker_id, date_trunc('second', v_holder.lease_expires_at)), null::timestamptz,
               jsonb_build_object('key', job.key, 'job_id', v_holder.id, 'kind', v_holder.kind, 'attempt', v_holder.attempt, 'worker_id', v_holder.worker_id,
                                  'lease_expires_at', v_holder.lease_expires_at);
    end if;
    if job.state <> 'waiting' then
        return;
    end if;
    select count(*) as jobs, (array_agg(o.id))[1] as first into v_line
      from ((select o.id from leasehold.jobs o
              where o.key = job.key and o.queue = job.queue and o.kind = job.kind and o.state = 'pending' order by o.priority desc, o.run_at, o.id limit c_most)
            union all
            (select o.id from leasehold.jobs o
              where o.key = job.key and o.queue = job.queue and o.kind = job.kind and o.state = 'waiting' and o.priority > job.priority
              order by o.priority desc, o.run_at, o.id limit c_most)
            union all
            (select o.id from leasehold.jobs o
              where o.key = job.key and o.queue = job.queue and o.kind = job.kind and o.state = 'waiting' and o.priority = job.priority
                and (o.run_at, o.id) < (job.run_at, job.id)
              order by o.run_at, o.id limit c_most)
            limit c_most) o;
    if v_line.jobs > 0 then
        return query
        select 'key_line', format('%s job(s) of key %s are before it in its queue and kind, first job %s',
                                  case when v_line.jobs = c_most then 'at least ' else '' end || v_line.jobs, job.key, v_line.first),
               null::timestamptz, jsonb_build_object('key', job.key, 'jobs', v_line.jobs, 'job_id', v_line.first);
    elsif not v_held then
        return query
        select 'stranded', format('it waits for key %s, which nobody holds any more; the next poll of a worker or a reaper sees to it', job.key),
               null::timestamptz, jsonb_build_object('key', job.key);
    end if;
end
$$;
