-- Purpose     Lock a job: nobody claims, ends, edits or removes it before this transaction ends, so that it is
--             changed only if it is as it was seen. A job that its chain has gone on from cannot change any more and
--             is not locked.
-- Parameters  job_id
-- Returns     a row of all_jobs, or none
-- Errors      none
-- Tables      as lock_chains, which is what delete_job locks first
create or replace function leasehold.lock_job(job_id bigint) returns setof leasehold.all_jobs language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
begin
    perform leasehold.lock_chains(array(select a.chain_id from leasehold.get_job(lock_job.job_id) a));
    return query select * from leasehold.get_job(lock_job.job_id);
end
$$;
