-- Purpose     Take unique keys as claim_unique_keys does, and lock the existing jobs that are to be changed or must
--             not start before this transaction ends. Other transactions lock a job first and claim keys afterwards
--             (a completion that makes further jobs), so this one never waits for a job while it holds anything: if a
--             job is locked, it gives all back first, and takes it again afterwards, when other jobs may have the
--             keys.
-- Parameters  unique_keys, job_ids, at: as claim_unique_keys · with_jobs: for each key whether to lock its job;
--             where none is to be locked, this is claim_unique_keys
-- Returns     as claim_unique_keys
-- Errors      none
-- Tables      unique_jobs as claim_unique_keys, jobs (row locks, never waited for with another one)
create or replace function leasehold.lock_unique_jobs(unique_keys text[], job_ids bigint[], with_jobs boolean[], at timestamptz)
returns table (unique_key text, job_id bigint, since timestamptz, is_mine boolean) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_wanted bigint[];
    v_locked bigint[];
    v_busy   bigint;
    v_held   record;
begin
    if not coalesce(true = any (lock_unique_jobs.with_jobs), false) then
        return query select * from leasehold.claim_unique_keys(lock_unique_jobs.unique_keys, lock_unique_jobs.job_ids, lock_unique_jobs.at);
        return;
    end if;
    loop
        begin
            select array_agg(k.unique_key) as keys, array_agg(k.job_id) as ids, array_agg(k.since) as since, array_agg(k.is_mine) as mine into v_held
              from leasehold.claim_unique_keys(lock_unique_jobs.unique_keys, lock_unique_jobs.job_ids, lock_unique_jobs.at) k;
            v_wanted := array(select h.job_id from unnest(v_held.keys, v_held.ids) h(unique_key, job_id)
                                join unnest(lock_unique_jobs.unique_keys, lock_unique_jobs.with_jobs) w(unique_key, with_job) on w.unique_key = h.unique_key
                               where w.with_job);
            v_locked := array(select j.id from leasehold.jobs j where j.id = any (v_wanted) for no key update skip locked);
            select min(j.id) into v_busy from leasehold.jobs j where j.id = any (v_wanted) and j.id <> all (v_locked);
            exit when v_busy is null;
            raise exception using errcode = 'LHBUS', message = 'given back';
        exception when sqlstate 'LHBUS' then null;
        end;
        begin
            perform from leasehold.jobs j where j.id = v_busy for share;
            raise exception using errcode = 'LHBUS', message = 'given back';
        exception when sqlstate 'LHBUS' then null;
        end;
    end loop;
    return query select * from unnest(v_held.keys, v_held.ids, v_held.since, v_held.mine);
end
$$;
