-- Purpose     Enqueue any number of jobs, and say by the clock of the database when they were made: for interfaces that promise that.
-- Parameters  jobs, notify: as enqueue_jobs
-- Returns     as enqueue_jobs, and created_at: of a new job, null where there is none
-- Errors      as enqueue_jobs
-- Tables      as enqueue_jobs; jobs (read)
create or replace function leasehold.enqueue_with_times(jobs jsonb, notify boolean default true)
returns table (job_id bigint, is_new boolean, outcome text, created_at timestamptz) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_made jsonb := (select jsonb_agg(to_jsonb(e) order by e.place)
                       from leasehold.enqueue_jobs(enqueue_with_times.jobs, enqueue_with_times.notify)
                            with ordinality e(job_id, is_new, outcome, place));
begin
    -- A statement of its own: the one that makes a job does not see it.
    return query
    select m.job_id, m.is_new, m.outcome, j.created_at
      from jsonb_to_recordset(v_made) m(job_id bigint, is_new boolean, outcome text, place bigint)
      left join leasehold.jobs j on j.id = m.job_id and m.is_new
     order by m.place;
end
$$;
