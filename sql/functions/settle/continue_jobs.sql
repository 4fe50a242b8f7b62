-- Purpose     Complete attempts and make further jobs of them, in one statement. A job's next one continues its
--             chain; any number of others begin chains of their own and may block the next one.
-- Parameters  incarnation, job_ids, attempts: the identities
--             continuations: for each an object with next (a job as in enqueue_jobs, or none: the chain ends here with the
--             output) and jobs (an array of such jobs); {"position": n} in blockers counts in jobs. next has the priority of
--             its predecessor unless it names one, and takes neither idempotency_key nor unique
--             outputs: JSON or null for each, not kept where there is a next · ran_for: seconds since the handler started
-- Returns     one row for each job: the reason where it was refused (busy: another session holds its row, send it again), else null; and the ids of its new jobs, the next one
--             last. A repeated call for the same attempts refuses nothing and makes nothing (new_ids is null then)
-- Errors      LH001 a continuation is refused · LH006 a unique job is there already · 55P03 another session holds something else that
--             one of them needs (a unique key, the place of a key) for half a second: send them apart
-- Tables      jobs (in id order), as apply_continuations
create or replace function leasehold.continue_jobs(
    incarnation uuid, job_ids bigint[], attempts integer[], continuations jsonb[], outputs jsonb[] default null,
    ran_for double precision[] default null
) returns table (job_id bigint, reason text, new_ids bigint[]) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set lock_timeout = '500ms' set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_ids           bigint[];
    v_continuations jsonb[];
    v_outputs       jsonb[];
    v_ran_for       double precision[];
begin
    with mine as materialized (
        select j.id, c.continuation, c.output, c.ran_for
          from (select distinct on (g.id, g.attempt) g.*
                  from unnest(continue_jobs.job_ids, continue_jobs.attempts, continue_jobs.continuations, continue_jobs.outputs, continue_jobs.ran_for)
                       g(id, attempt, continuation, output, ran_for)
                 order by g.id, g.attempt) c
          join leasehold.jobs j on j.id = c.id
         where j.attempt = c.attempt and j.incarnation = continue_jobs.incarnation and j.id = any (continue_jobs.job_ids)
           for update of j skip locked
    )
    select array_agg(m.id order by m.id), array_agg(m.continuation order by m.id), array_agg(m.output order by m.id), array_agg(m.ran_for order by m.id)
      into v_ids, v_continuations, v_outputs, v_ran_for
      from mine m;
    if v_ids is not null then
        return query select a.job_id, null::text, a.new_ids from leasehold.apply_continuations(v_ids, v_continuations, v_outputs, v_ran_for) a;
    end if;
    if cardinality(v_ids) is distinct from cardinality(continue_jobs.job_ids) then
        return query
        with refused as materialized (
            select c.id, max(c.attempt) as attempt
              from unnest(continue_jobs.job_ids, continue_jobs.attempts) c(id, attempt)
             where c.id is not null and (v_ids is null or c.id <> all (v_ids))
             group by c.id
        )
        select f.id, r.reason, null::bigint[]
          from refused f
          left join leasehold.name_refusals(continue_jobs.incarnation, array(select i.id from refused i order by i.id),
                                            array(select i.attempt from refused i order by i.id)) r on r.job_id = f.id;
    end if;
end
$$;
