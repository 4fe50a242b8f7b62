-- Purpose     Remove what is older than `keep_days` and belongs to no job: rows of default partitions, stopped workers and
--             their commands, registrations of waiting clients, and the audit log after 90 days at least. A default
--             partition without younger rows is emptied as a whole.
-- Parameters  keep_days: at least 1 · batch: how many rows of each table, at the most
-- Returns     how many rows were removed; call it until it is 0
-- Errors      LH001 keep_days out of range
-- Tables      finished_jobs_default, job_events_default, job_logs_default (short exclusive locks, waited for 0.2 s at the most, or rows
--             deleted), chain_waiters, audit_log, worker_commands, workers (rows deleted; locked ones skipped everywhere)
create or replace function leasehold.drop_old_rows(keep_days integer, batch integer default 5000) returns bigint language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off set lock_timeout = '200ms' as $$
#variable_conflict use_column
declare
    v_now     timestamptz := leasehold.clock();
    v_limit   timestamptz := leasehold.clock()::date - least(drop_old_rows.keep_days, 36500);
    v_dropped bigint := 0;
    v_count   bigint;
    v_table   text;
    v_column  text;
    v_is_old  boolean;
begin
    if drop_old_rows.keep_days is null or keep_days < 1 then
        raise exception using errcode = 'LH001', message = format('keep_days must be 1 or more, not %s', coalesce(keep_days::text, 'null'));
    end if;
    for v_table, v_column in values ('finished_jobs_default', 'finished_at'), ('job_events_default', 'at'), ('job_logs_default', 'at') loop
        execute format('select exists (select from leasehold.%I where %I < $1) and not exists (select from leasehold.%1$I where %2$I >= $1)', v_table, v_column)
           into v_is_old using v_limit;
        begin
            if v_is_old then
                execute format('lock table leasehold.%I in access exclusive mode', v_table);
                execute format('select not exists (select from leasehold.%I where %I >= $1)', v_table, v_column) into v_is_old using v_limit;
            end if;
            if v_is_old then
                execute format('truncate leasehold.%I', v_table);
                v_dropped := v_dropped + 1;
            end if;
        exception when lock_not_available then
            v_is_old := false;
        end;
        if not v_is_old then
            execute format('delete from leasehold.%1$I where ctid = any (array(select ctid from leasehold.%1$I where %2$I < $1 limit $2 for update skip locked))',
                           v_table, v_column) using v_limit, drop_old_rows.batch;
            get diagnostics v_count = row_count;
            v_dropped := v_dropped + v_count;
        end if;
    end loop;
    delete from leasehold.chain_waiters w
     where w.chain_id = any (array(select o.chain_id from leasehold.chain_waiters o where o.expires_at < v_now limit drop_old_rows.batch for update skip locked));
    get diagnostics v_count = row_count;
    v_dropped := v_dropped + v_count;
    delete from leasehold.audit_log a
     where a.id = any (array(select o.id from leasehold.audit_log o where o.at < least(v_limit, v_now::date - 90)
                              order by o.at limit drop_old_rows.batch for update skip locked));
    get diagnostics v_count = row_count;
    v_dropped := v_dropped + v_count;
    delete from leasehold.worker_commands c
     where c.id = any (array(select o.id from leasehold.worker_commands o where o.created_at < v_limit limit drop_old_rows.batch for update skip locked));
    get diagnostics v_count = row_count;
    v_dropped := v_dropped + v_count;
    delete from leasehold.workers w
     where w.incarnation = any (array(select o.incarnation from leasehold.workers o where coalesce(o.stopped_at, o.heartbeat_at) < v_limit
                                       limit drop_old_rows.batch for update skip locked));
    get diagnostics v_count = row_count;
    return v_dropped + v_count;
end
$$;
