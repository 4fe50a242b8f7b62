-- Purpose     List the newest failures of one group of list_failure_groups.
-- Parameters  fingerprint · since, until: as there · only_final: only jobs that failed for good
--             page_size: at most, 1 to 10000 · max_rows: so many failures are read, as there
-- Returns     at, job_id, attempt, kind, queue, worker_id, app_version (of that worker, where it is still known), message, is_final;
--             the latest first
-- Errors      LH001 page_size or max_rows out of range
-- Tables      as find_failures, workers (read)
create or replace function leasehold.list_group_failures(
    fingerprint text, since timestamptz default null, until timestamptz default null, only_final boolean default false,
    page_size integer default 50, max_rows integer default 2000
) returns table (at timestamptz, job_id bigint, attempt integer, kind text, queue text, worker_id text, app_version text, message text, is_final boolean)
language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_until timestamptz := coalesce(list_group_failures.until, leasehold.clock());
begin
    if coalesce(list_group_failures.page_size, 0) not between 1 and 10000 or coalesce(list_group_failures.max_rows, 0) not between 1 and 20000 then
        raise exception using errcode = 'LH001', message = 'page_size must be from 1 to 10000, max_rows from 1 to 20000';
    end if;
    return query
    with newest as materialized (
        select f.* from leasehold.find_failures(coalesce(list_group_failures.since, v_until - interval '1 day'), v_until, list_group_failures.max_rows) f
         where f.fingerprint = list_group_failures.fingerprint and (f.is_final or not list_group_failures.only_final)
         order by f.at desc, f.job_id desc limit list_group_failures.page_size
    ), fleet as materialized (
        -- Read once: one pass over the workers, not one for each failure.
        select o.worker_id, o.started_at, o.app_version from leasehold.workers o where o.worker_id in (select n.worker_id from newest n)
    )
    select f.at, f.job_id, f.attempt, f.kind, f.queue, f.worker_id, w.app_version, leasehold.describe_error(f.error), f.is_final
      from newest f
      left join lateral (select o.app_version from fleet o where o.worker_id = f.worker_id and o.started_at <= f.at
                          order by o.started_at desc limit 1) w on true
     order by f.at desc, f.job_id desc;
end
$$;
