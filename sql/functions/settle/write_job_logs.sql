-- Purpose     Keep lines that handlers logged for their jobs. A job keeps a thousand of them; the last one says that
--             there were more.
-- Parameters  job_ids, attempts, ats, levels, messages: one of each for every line, in the order in which they were logged
-- Returns     how many lines were kept
-- Errors      none; a message is cut at 4000 characters
-- Tables      job_logs (insert)
create or replace function leasehold.write_job_logs(
    job_ids bigint[], attempts integer[], ats timestamptz[], levels text[], messages text[]
) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    c_most constant integer := 1000;
    v_kept integer;
begin
    with line as materialized (
        select l.*, row_number() over (partition by l.job_id order by l.position) as place
          from unnest(write_job_logs.job_ids, write_job_logs.attempts, write_job_logs.ats, write_job_logs.levels, write_job_logs.messages)
               with ordinality l(job_id, attempt, at, level, message, position)
    ), had as materialized (
        select d.job_id, (select count(*) from (select from leasehold.job_logs g where g.job_id = d.job_id limit c_most) found) as lines
          from (select distinct l.job_id from line l) d
    )
    insert into leasehold.job_logs (job_id, attempt, at, level, message)
    select l.job_id, l.attempt, l.at, l.level,
           case when h.lines + l.place = c_most then 'more lines follow; the first ' || c_most - 1 || ' are kept' else left(l.message, 4000) end
      from line l join had h on h.job_id = l.job_id
     where h.lines + l.place <= c_most
     order by l.position;
    get diagnostics v_kept = row_count;
    return v_kept;
end
$$;
