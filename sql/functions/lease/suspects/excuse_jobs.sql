-- Purpose     Take back what was counted against the jobs of a worker that was taken for dead and lives: it had stood
--             still, or had no way to the database. Its jobs have one crash less. They stay apart from other suspects
--             until they end, because one of them may have stopped the process; attempts that were charged stay so.
-- Parameters  incarnation: of the worker, which was heard of just now
-- Returns     how many jobs have one crash less
-- Errors      none
-- Tables      workers (own row), jobs (rows locked, locked ones are left for the next call)
create or replace function leasehold.excuse_jobs(incarnation uuid) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_losses leasehold.loss[];
    v_busy   bigint[];
    v_free   bigint[];
begin
    select w.losses into v_losses from leasehold.workers w where w.incarnation = excuse_jobs.incarnation for no key update;
    if v_losses is null then
        return 0;
    end if;
    v_free := array(select j.id from leasehold.jobs j
                     where j.id = any (array(select l.job_id from unnest(v_losses) l)) and j.crashes > 0 for no key update skip locked);
    v_busy := array(select j.id from leasehold.jobs j
                     where j.id = any (array(select l.job_id from unnest(v_losses) l)) and j.crashes > 0 and j.id <> all (v_free));
    update leasehold.jobs j set crashes = j.crashes - 1 where j.id = any (v_free);
    update leasehold.workers w
       set losses = nullif(array(select l from unnest(v_losses) l where l.job_id = any (v_busy)), '{}'),
           excused = w.excused || array(select l from unnest(v_losses) l where l.job_id <> all (v_busy))
     where w.incarnation = excuse_jobs.incarnation;
    return cardinality(v_free);
end
$$;
