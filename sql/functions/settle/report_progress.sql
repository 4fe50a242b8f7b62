-- Purpose     Report the progress of running jobs; the last report of each counts. A call that a later one has
--             overtaken, of this attempt or the next, changes nothing.
-- Parameters  incarnation, job_ids, attempts: the identities · fractions: 0 to 1 or null, for each · messages: for each
-- Returns     only the refused ones, with the reason
-- Errors      none; a fraction out of range is brought into it, a message is cut at 1000 characters
-- Tables      jobs (read), job_progress (upsert, in id order)
create or replace function leasehold.report_progress(
    incarnation uuid, job_ids bigint[], attempts integer[], fractions double precision[], messages text[]
) returns table (job_id bigint, reason text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
    v_ids bigint[];
begin
    with mine as materialized (
        select distinct on (j.id) j.id, j.attempt, r.fraction, r.message
          from unnest(report_progress.job_ids, report_progress.attempts, report_progress.fractions, report_progress.messages)
               with ordinality r(id, attempt, fraction, message, position)
          join leasehold.jobs j on j.id = r.id
         where j.attempt = r.attempt and j.incarnation = report_progress.incarnation and j.id = any (report_progress.job_ids)
         order by j.id, r.position desc
    ), said as (
        insert into leasehold.job_progress as p (job_id, attempt, fraction, message, at)
        select m.id, m.attempt, case when m.fraction <> 'NaN' then least(1, greatest(0, m.fraction)) end, left(m.message, 1000), v_now
          from mine m order by m.id
        on conflict (job_id) do update
           set attempt = excluded.attempt, fraction = excluded.fraction, message = excluded.message, at = excluded.at
         where (p.attempt, p.at) <= (excluded.attempt, excluded.at)
    )
    select array_agg(m.id) into v_ids from mine m;
    if cardinality(v_ids) is distinct from cardinality(report_progress.job_ids) then
        return query
        select r.job_id, r.reason
          from (select array_agg(c.id) as ids, array_agg(c.attempt) as attempts
                  from unnest(report_progress.job_ids, report_progress.attempts) c(id, attempt)
                 where v_ids is null or c.id <> all (v_ids)) refused
         cross join lateral leasehold.name_refusals(report_progress.incarnation, refused.ids, refused.attempts) r;
    end if;
end
$$;
