-- Purpose     Make scheduled jobs claimable whose time has come. A job with a key joins the line of its key and is
--             promoted from there when the key is free. A job whose key is being settled right now is left for the
--             next call.
-- Parameters  batch: how many at the most, 1000 different keys among them · notify: wake idle workers
-- Returns     how many became due
-- Errors      none
-- Tables      jobs (rows locked, locked ones skipped), advisory locks of keys (only tried), as promote_waiting_jobs
create or replace function leasehold.make_jobs_due(batch integer default 1000, notify boolean default true)
returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_now    timestamptz := leasehold.clock();
    v_queues text[];
    v_keys   text[];
    v_due    integer;
    v_places     tid[];
    v_place_keys text[];
begin
    select array_agg(due.place), array_agg(due.key) into v_places, v_place_keys
      from (select j.ctid as place, j.key from leasehold.jobs j
             where j.state = 'scheduled' and j.run_at <= v_now
             order by j.run_at limit make_jobs_due.batch for update skip locked) due;
    if v_places is null then
        return 0;
    end if;
    -- Tried, not waited for: claim_jobs comes here, and one open transaction must not hold up every claim. A thousand at
    -- the most, because the lock table is small and shared.
    v_keys := array(select k.key from (select distinct u.key from unnest(v_place_keys) u(key) where u.key is not null limit 1000) k
                     where pg_try_advisory_xact_lock(leasehold.key_lock(k.key)));
    with made as (
        update leasehold.jobs j set state = case when j.key is null then 'pending' else 'waiting' end
         where j.ctid = any (array(select p.place from unnest(v_places, v_place_keys) p(place, key)
                                    where p.key is null or p.key in (select unnest(v_keys))))
        returning j.queue, j.key
    )
    select count(*), array_agg(distinct m.queue) filter (where m.key is null) into v_due, v_queues from made m;
    if v_keys <> '{}' then
        perform leasehold.promote_waiting_jobs(v_keys, make_jobs_due.notify);
    end if;
    if make_jobs_due.notify and v_queues is not null then
        perform leasehold.wake_idle_workers(v_queues);
    end if;
    return v_due;
end
$$;
