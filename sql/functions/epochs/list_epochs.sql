-- Purpose     List the epochs, the present one first.
-- Parameters  page_size: how many at the most
-- Returns     rows of epochs, without its mark · is_present: whether it is the one that the database is in
-- Errors      none
-- Tables      epochs (read)
create or replace function leasehold.list_epochs(page_size integer default 20)
returns table (epoch bigint, began_at timestamptz, cause text, timeline bigint, former_timeline bigint, ids_after bigint, ids_until bigint,
               lost_jobs integer, lost_job_ids bigint[], last_lost_id bigint, is_present boolean) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
select e.id, e.began_at, e.cause, e.timeline, e.former_timeline, e.ids_after, e.ids_until, e.lost_jobs, e.lost_job_ids, e.last_lost_id,
       e.id = pg_sequence_last_value('leasehold.epochs_id_seq')
  from leasehold.epochs e
 order by e.began_at desc limit page_size
$$;
