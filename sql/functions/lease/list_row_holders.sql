-- Purpose     Name the sessions that hold the rows of jobs in open transactions. Looking locks nothing and waits for
--             nobody. A row names its locker by the number of a transaction, or by that of a group of them.
-- Parameters  job_ids: which jobs; those that nobody holds are left out
-- Returns     job_id, and of each such session: pid (null: a prepared transaction), application_name, host (null: on the
--             server itself), role, since (when its transaction began), state, state_since, query (what it does, or did last).
--             Postgres shows the last four only to the same role and to members of pg_read_all_stats
-- Errors      none
-- Tables      jobs, pg_locks, pg_stat_activity, pg_prepared_xacts (read)
create or replace function leasehold.list_row_holders(job_ids bigint[])
returns table (
    job_id bigint, pid integer, application_name text, host text, role text, since timestamptz, state text, state_since timestamptz, query text
) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_job     record;
    v_lockers xid[];
begin
    for v_job in select j.id, j.xmax as locker from leasehold.jobs j where j.id = any (list_row_holders.job_ids) and j.xmax <> 0 order by j.id loop
        begin
            v_lockers := array(select m.xid from pg_get_multixact_members(v_job.locker) m);
        exception when others then
            v_lockers := '{}';  -- no group has this number
        end;
        return query
        select v_job.id, l.pid, coalesce(a.application_name, 'prepared transaction ' || p.gid),
               coalesce(a.client_hostname, host(a.client_addr)), coalesce(a.usename::text, p.owner::text),
               coalesce(a.xact_start, p.prepared), a.state, a.state_change, a.query
          from pg_locks l
          left join pg_stat_activity a on a.pid = l.pid
          left join pg_prepared_xacts p on p.transaction = l.transactionid
         where l.locktype = 'transactionid' and l.granted and l.mode = 'ExclusiveLock'
           and l.transactionid = any (v_lockers || v_job.locker) and l.pid is distinct from pg_backend_pid();
    end loop;
end
$$;
