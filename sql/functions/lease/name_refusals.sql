-- Purpose     Say why writes of a former owner were refused. A job that this very attempt has finished is left out:
--             its writer was accepted before, and asks again because it never learned the outcome of its commit. Jobs
--             that the reaper failed were not finished by their attempt; the reaper's errors have no traceback, those
--             of workers do.
-- Parameters  incarnation, job_ids, attempts: the refused identities
-- Returns     job_id and reason: taken_by_another_worker, already_completed, cancelled, deadline, not_found; or busy: this attempt
--             has the job still, and another session holds its row
-- Errors      none
-- Tables      jobs, finished_jobs (read)
create or replace function leasehold.name_refusals(incarnation uuid, job_ids bigint[], attempts integer[])
returns table (job_id bigint, reason text) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
select r.id,
       case when (select j.id from leasehold.jobs j
                   where j.id = r.id and j.attempt = r.attempt and j.incarnation = name_refusals.incarnation) is not null then 'busy'
            when (select j.id from leasehold.jobs j where j.id = r.id) is not null then 'taken_by_another_worker'
            when f.state = 'cancelled' then 'cancelled'
            when f.ended_by = 'DeadlineExceeded' then 'deadline'
            when f.ended_by is not null then 'taken_by_another_worker'
            when f.id is not null then 'already_completed'
            else 'not_found' end
  from unnest(name_refusals.job_ids, name_refusals.attempts) r(id, attempt)
  left join lateral (select d.id, d.state, d.attempt, d.incarnation,
                            case when d.state = 'failed' and d.error ->> 'type' in ('DeadlineExceeded', 'LeaseExpired', 'Quarantined')
                                      and not d.error ? 'traceback' and d.attempt = r.attempt then d.error ->> 'type' end as ended_by
                       from leasehold.finished_jobs d
                      where d.id = r.id
                      order by d.finished_at desc limit 1) f on true
 where f.id is null or f.state = 'cancelled' or f.ended_by is not null or f.attempt <> r.attempt or f.incarnation is distinct from name_refusals.incarnation
$$;
