-- Purpose     Tell which of the jobs with keys that a claim has locked it may take: of each key that nobody holds the
--             best one. The others are demoted to waiting, under the lock of the key, and so leave the claim index. A
--             job whose key is being settled right now is passed over, because its lock is only tried.
-- Parameters  places, keys: the jobs and their keys, in one order; the caller has locked the jobs
-- Returns     one row. free: places of the jobs that may be claimed · passed: places of those that are to be left out, null
--             for none · demoted: how many were
-- Errors      none
-- Tables      advisory locks of keys (only tried), then jobs, job_events (insert)
create or replace function leasehold.demote_keyed_jobs(places tid[], keys text[])
returns table (free tid[], passed tid[], demoted integer) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_keys text[];
begin
    -- Two steps, so that the look for holders has a snapshot taken after the locks were.
    v_keys := array(select case when pg_try_advisory_xact_lock(leasehold.key_lock(k.key)) then k.key end
                      from unnest(demote_keyed_jobs.keys) with ordinality k(key, position) order by k.position);
    if array_position(v_keys, null) is not null then
        passed := array(select c.place from unnest(demote_keyed_jobs.places, v_keys) c(place, key) where c.key is null);
    end if;
    with judged as materialized (
        select c.place,
               row_number() over (partition by c.key order by j.priority desc, j.run_at, j.id) = 1
               and (select h.id from leasehold.jobs h
                     where h.key = c.key and h.incarnation is not null limit 1) is null as is_free
          from unnest(demote_keyed_jobs.places, v_keys) c(place, key)
          join leasehold.jobs j on j.ctid = c.place
         where c.key is not null
    ), demoted as (
        update leasehold.jobs j set state = 'waiting'
         where j.ctid = any (array(select g.place from judged g where not g.is_free))
        returning j.id, j.attempt
    ), noted as (
        insert into leasehold.job_events (job_id, at, event, attempt) select d.id, leasehold.clock(), 'demoted', d.attempt from demoted d
    )
    select coalesce((select array_agg(g.place) from judged g where g.is_free), '{}'), (select count(*) from demoted)
      into free, demoted;
    return next;
end
$$;
