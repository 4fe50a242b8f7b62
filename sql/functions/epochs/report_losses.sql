-- Purpose     Note what a worker held when the epoch began and the database knows nothing of: jobs whose enqueueing was lost.
-- Parameters  epoch: as find_epoch · job_ids: the jobs
-- Returns     nothing
-- Errors      none
-- Tables      epochs
create or replace function leasehold.report_losses(epoch bigint, job_ids bigint[]) returns void language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
update leasehold.epochs e
   set lost_jobs = e.lost_jobs + cardinality(job_ids), lost_job_ids = (e.lost_job_ids || job_ids)[:100],
       last_lost_id = greatest(e.last_lost_id, (select max(l.id) from unnest(job_ids) l(id)))
 where e.id = report_losses.epoch and job_ids <> '{}'
$$;
