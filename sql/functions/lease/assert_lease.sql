-- Purpose     Check the fencing token in your own transaction, before your own writes. It succeeds only for the
--             present holder and locks the job's row until the transaction ends, so nobody takes the job in between.
--             A former holder's transaction fails as a whole.
-- Parameters  job_id, attempt, incarnation: the identity that the handler was given
-- Returns     nothing
-- Errors      LH003 this attempt does not hold the job
-- Tables      jobs (row lock, of the kind that lets the lease be renewed meanwhile)
create or replace function leasehold.assert_lease(job_id bigint, attempt integer, incarnation uuid) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
begin
    perform from leasehold.jobs j
      where j.id = assert_lease.job_id and j.attempt = assert_lease.attempt and j.incarnation = assert_lease.incarnation
        and j.lease_expires_at > leasehold.clock()
        for key share of j;
    if not found then
        raise exception using errcode = 'LH003',
            message = format('attempt %s does not hold job %s any more', assert_lease.attempt, assert_lease.job_id),
            hint = 'stop: another attempt runs or has run; this transaction changes nothing';
    end if;
end
$$;
