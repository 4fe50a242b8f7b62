-- Purpose     Make scheduled jobs claimable whose time has come. A job with a key joins the line of its key and is
--             promoted from there when the key is free. Of a key that is being settled right now, all but the last job
--             join the line, too: that one stays, so that the next call looks at the key again, and many jobs of one key
--             do not hide what is due behind them.
-- Parameters  batch: how many at the most, 1000 different keys among them · notify: wake idle workers
-- Returns     how many became due
-- Errors      none
-- Tables      jobs (rows locked, locked ones skipped), advisory locks of keys (only tried), job_events (insert), as promote_waiting_jobs
create or replace function leasehold.make_jobs_due(batch integer default 1000, notify boolean default true)
returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_now    timestamptz := leasehold.clock();
    v_queues text[];
    v_keys   text[];
    v_open   text[];
    v_made   integer;
    v_due    integer := 0;
    v_run_at timestamptz := '-infinity';
    v_id     bigint := 0;
    v_places     tid[];
    v_place_keys text[];
begin
    -- Where all that was found belongs to keys that others are at, what comes behind it is looked at.
    for look in 1 .. 10 loop
        select array_agg(due.place order by due.run_at, due.id), array_agg(due.key order by due.run_at, due.id), max(due.run_at),
               (array_agg(due.id order by due.run_at, due.id))[count(*)]
          into v_places, v_place_keys, v_run_at, v_id
          from (select j.ctid as place, j.key, j.run_at, j.id from leasehold.jobs j
                 where j.state = 'scheduled' and (j.run_at, j.id) > (v_run_at, v_id) and j.run_at <= v_now
                 order by j.run_at, j.id limit make_jobs_due.batch for update skip locked) due;
        exit when v_places is null;
        -- Tried, not waited for: claim_jobs comes here, and one open transaction must not hold up every claim. A thousand at
        -- the most, because the lock table is small and shared.
        select array_agg(t.key) filter (where t.is_mine), array_agg(t.key) filter (where not t.is_mine) into v_keys, v_open
          from (select k.key, pg_try_advisory_xact_lock(leasehold.key_lock(k.key)) as is_mine
                  from (select distinct u.key from unnest(v_place_keys) u(key) where u.key is not null limit 1000) k) t;
        with made as (
            update leasehold.jobs j set state = case when j.key is null then 'pending' else 'waiting' end,
                   pending_at = case when exists (select from leasehold.lane_marks) then v_now end
             where j.ctid = any (array(select p.place
                                         from (select u.place, u.key, lead(u.key) over (partition by u.key order by u.position) is null as is_last
                                                 from unnest(v_places, v_place_keys) with ordinality u(place, key, position)) p
                                        where p.key is null or p.key = any (v_keys) or p.key = any (v_open) and not p.is_last))
            returning j.id, j.attempt, j.queue, j.key
        ), noted as (
            insert into leasehold.job_events (job_id, at, event, attempt) select m.id, v_now, 'due', m.attempt from made m
        )
        select count(*), array_agg(distinct m.queue) filter (where m.key is null) into v_made, v_queues from made m;
        if v_keys is not null then
            perform leasehold.promote_waiting_jobs(v_keys, make_jobs_due.notify);
        end if;
        if make_jobs_due.notify and v_queues is not null then
            perform leasehold.wake_idle_workers(v_queues);
        end if;
        v_due := v_due + v_made;
        exit when v_made > 0 or cardinality(v_places) < make_jobs_due.batch;
    end loop;
    return v_due;
end
$$;
