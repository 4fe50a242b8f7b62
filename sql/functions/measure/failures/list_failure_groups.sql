-- Purpose     Group the failures of some hours by their fingerprint: kind, type of the error, place. No table is counted: the
--             newest failures are read, and the answer says where they begin.
-- Parameters  since, until: from this moment on (null: a day before until), before that one (null: now) · only_kind, only_queue: only such
--             max_groups: at most, 1 to 1000 · max_rows: so many failures are read, of attempts and of jobs each, 1 to 20000
--             only_fingerprint: only this group
-- Returns     fingerprint, kind (null where the jobs are gone), error_type, place, failures (attempts and jobs), failed_jobs (those that failed
--             for good), first_at, last_at, last_job_id, last_message, queues, versions (of the app, of workers that are still
--             known), counts (of 24 equal parts of the time, the oldest first), starts_at, ends_at (of the time); is_partial: max_rows was
--             reached, so older failures are not in it · trend: the last sixth of the time beside what came before it: quiet (it has
--             none in it), new (all), rising (three or more, and at least three times as many an hour as before), steady (else); null
--             where is_partial · the group that failed last comes first
-- Errors      LH001 max_groups or max_rows out of range, until not after since
-- Tables      as find_failures, workers (read)
create or replace function leasehold.list_failure_groups(
    since timestamptz default null, until timestamptz default null, only_kind text default null, only_queue text default null,
    max_groups integer default 100, max_rows integer default 2000, only_fingerprint text default null
) returns table (fingerprint text, kind text, error_type text, place text, failures bigint, failed_jobs bigint, first_at timestamptz,
                 last_at timestamptz, last_job_id bigint, last_message text, queues text[], versions text[], counts integer[],
                 starts_at timestamptz, ends_at timestamptz, is_partial boolean, trend text) language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_until timestamptz := coalesce(list_failure_groups.until, leasehold.clock());
    v_since timestamptz := coalesce(list_failure_groups.since, v_until - interval '1 day');
begin
    if coalesce(list_failure_groups.max_groups, 0) not between 1 and 1000 or coalesce(list_failure_groups.max_rows, 0) not between 1 and 20000 then
        raise exception using errcode = 'LH001', message = 'max_groups must be from 1 to 1000, max_rows from 1 to 20000';
    end if;
    if v_since >= v_until then
        raise exception using errcode = 'LH001', message = format('until must be after since, which is %s', v_since);
    end if;
    return query
    with found as materialized (
        select f.*, least(24, 1 + floor(24 * date_part('epoch', f.at - v_since) / date_part('epoch', v_until - v_since)))::int as part
          from leasehold.find_failures(v_since, v_until, list_failure_groups.max_rows) f
         where (list_failure_groups.only_kind is null or f.kind = list_failure_groups.only_kind)
           and (list_failure_groups.only_queue is null or f.queue = list_failure_groups.only_queue)
           and (list_failure_groups.only_fingerprint is null or f.fingerprint = list_failure_groups.only_fingerprint)
    ), grouped as (
        select f.fingerprint, count(*) as failures, count(*) filter (where f.is_final) as failed_jobs, min(f.at) as first_at, max(f.at) as last_at,
               array_agg(distinct f.queue) filter (where f.queue is not null) as queues, array_agg(distinct f.worker_id) as worker_ids,
               bool_or(f.is_full) as is_full
          from found f group by f.fingerprint order by max(f.at) desc, f.fingerprint limit list_failure_groups.max_groups
    ), latest as (
        select distinct on (f.fingerprint) f.* from found f order by f.fingerprint, f.at desc, f.job_id desc
    ), parts as (
        select p.fingerprint, array_agg(coalesce(c.failures, 0) order by p.part) as counts,
               coalesce(sum(c.failures) filter (where p.part > 20), 0) as recent
          from (select g.fingerprint, n as part from grouped g, generate_series(1, 24) n) p
          left join (select f.fingerprint, f.part, count(*)::int as failures from found f group by f.fingerprint, f.part) c using (fingerprint, part)
         group by p.fingerprint
    )
    select g.fingerprint, l.kind, l.error ->> 'type', left(l.error ->> 'place', 200), g.failures, g.failed_jobs, g.first_at, g.last_at, l.job_id,
           left(case jsonb_typeof(l.error) when 'object' then l.error ->> 'message' else l.error #>> '{}' end, 1000),
           coalesce(g.queues, '{}'),
           array(select distinct w.app_version from leasehold.workers w
                  where w.worker_id = any (g.worker_ids) and w.app_version is not null order by 1),
           p.counts, v_since, v_until, g.is_full,
           case when g.is_full then null when p.recent = 0 then 'quiet' when p.recent = g.failures then 'new'
                when p.recent >= 3 and 5 * p.recent >= 3 * (g.failures - p.recent) then 'rising' else 'steady' end
      from grouped g join latest l using (fingerprint) join parts p using (fingerprint)
     order by g.last_at desc, g.fingerprint;
end
$$;
