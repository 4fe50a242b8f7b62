-- Purpose     Let a worker that takes a new incarnation keep the jobs that it runs. A row that still names the former one proves
--             that nobody else has had the job since. From then on only the new incarnation may write.
-- Parameters  former: under which it claimed them · incarnation: the new one; asked again after a lost reply, what it has got
--             counts as adopted · job_ids, attempts: what it runs
-- Returns     for each its outcome: adopted; busy: somebody has the row locked, so it stays as it is; taken: the job is there and
--             this attempt is not, so it is over or runs again; lost: there is no such job
-- Errors      none
-- Tables      jobs (rows locked, locked ones skipped), finished_jobs (read)
create or replace function leasehold.adopt_jobs(former uuid, incarnation uuid, job_ids bigint[], attempts integer[])
returns table (job_id bigint, outcome text) language sql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
with held as materialized (
    select r.id, r.attempt,
           (select j.id from leasehold.jobs j
             where j.id = r.id and j.attempt = r.attempt and j.incarnation in (adopt_jobs.former, adopt_jobs.incarnation)) is not null as is_ours
      from unnest(adopt_jobs.job_ids, adopt_jobs.attempts) r(id, attempt)
), locked as materialized (
    select j.id from leasehold.jobs j
     where j.id = any (array(select h.id from held h where h.is_ours)) and j.incarnation in (adopt_jobs.former, adopt_jobs.incarnation)
     order by j.id for update skip locked
), adopted as (
    update leasehold.jobs j set incarnation = adopt_jobs.incarnation where j.id = any (array(select l.id from locked l))
    returning j.id
)
select h.id,
       case when h.id in (select a.id from adopted a) then 'adopted'
            when h.is_ours then 'busy'
            when (select j.id from leasehold.jobs j where j.id = h.id) is not null
                 or (select f.id from leasehold.finished_jobs f where f.id = h.id limit 1) is not null then 'taken'
            else 'lost' end
  from held h
$$;
