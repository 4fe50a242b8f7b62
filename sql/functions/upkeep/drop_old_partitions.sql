-- Purpose     Remove finished jobs, events and logs that are older than `keep_days`, a whole day at a time; and
--             idempotency keys, unique keys, progress, edges, stopped workers and their commands of the same age. The
--             audit log is kept 90 days at least. What somebody else uses, or already removes, is left for the next
--             call, so that nobody queues up behind this one.
-- Parameters  keep_days: at least 1
-- Returns     how many partitions were dropped
-- Errors      LH001 keep_days out of range
-- Tables      an advisory lock, the small tables, then finished_jobs, job_events and job_logs (short exclusive locks,
--             waited for 0.2 s at the most)
create or replace function leasehold.drop_old_partitions(keep_days integer) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '200ms' as $$
declare
    v_dropped integer := 0;
    v_name    text;
    v_limit   date := leasehold.clock()::date - keep_days;
begin
    if drop_old_partitions.keep_days is null or keep_days < 1 then
        raise exception using errcode = 'LH001', message = format('keep_days must be 1 or more, not %s', coalesce(keep_days::text, 'null'));
    end if;
    if not pg_try_advisory_xact_lock(hashtextextended('leasehold partitions', 0)) then
        return 0;
    end if;
    delete from leasehold.finished_jobs_default where finished_at < v_limit;
    delete from leasehold.job_events_default where at < v_limit;
    delete from leasehold.job_logs_default where at < v_limit;
    delete from leasehold.job_blockers b where b.closed_at < v_limit
       and not exists (select from leasehold.jobs j where j.id = b.job_id)
       and not exists (select from leasehold.finished_jobs f where f.id = b.job_id and f.finished_at >= v_limit);
    delete from leasehold.job_blockers b where b.closed_at is null
       and not exists (select from leasehold.jobs j where j.id = b.job_id)
       and not exists (select from leasehold.finished_jobs f where f.id = b.job_id);
    delete from leasehold.job_progress p where p.at < v_limit and not exists (select from leasehold.jobs j where j.id = p.job_id);
    delete from leasehold.unique_jobs u where u.created_at < v_limit
       and not exists (select from leasehold.jobs j where j.id = u.job_id or j.chain_id = u.job_id)
       and not exists (select from leasehold.finished_jobs f where f.id = u.job_id or f.chain_id = u.job_id);
    delete from leasehold.unique_claims u where u.created_at < v_limit
       and not exists (select from leasehold.jobs j where j.id = u.job_id or j.chain_id = u.job_id)
       and not exists (select from leasehold.finished_jobs f where f.id = u.job_id or f.chain_id = u.job_id);
    delete from leasehold.chain_waiters where expires_at < leasehold.clock();
    delete from leasehold.audit_log where at < least(v_limit, leasehold.clock()::date - 90);
    delete from leasehold.idempotency_keys where created_at < v_limit;
    delete from leasehold.worker_commands where created_at < v_limit;
    delete from leasehold.workers where coalesce(stopped_at, heartbeat_at) < v_limit;
    for v_name in
        select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
         where i.inhparent in ('leasehold.finished_jobs'::regclass, 'leasehold.job_events'::regclass, 'leasehold.job_logs'::regclass)
           and c.relname ~ '_\d{8}$' and to_date(right(c.relname, 8), 'YYYYMMDD') < v_limit
         order by 1
    loop
        begin
            execute format('drop table leasehold.%I', v_name);
        exception when lock_not_available then
            return v_dropped;
        end;
        v_dropped := v_dropped + 1;
    end loop;
    return v_dropped;
end
$$;
