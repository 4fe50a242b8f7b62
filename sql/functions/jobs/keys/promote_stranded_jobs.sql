-- Purpose     Find jobs that wait for a key that nobody holds, and promote them. It happens when an enqueue saw a holder
--             that was gone before the enqueue committed; the next poll of any worker or the reaper repairs it. A key
--             whose lock is taken is left to its holder. The jobs are looked at in the order of their times, a batch in
--             each call: the reaper looks at the latest in each round, and goes through the others in turn.
-- Parameters  after_run_at, after_id: go on behind this job; null for both to begin · batch: how many waiting jobs to look at, at
--             the most, 1000 above all · newest: look at the latest ones instead, from the end
-- Returns     found: how many were promoted · last_run_at, last_id: the job to go on behind (null: that was the last)
-- Errors      none
-- Tables      jobs (read), advisory locks of the keys (only tried), as promote_waiting_jobs
create or replace function leasehold.promote_stranded_jobs(
    after_run_at timestamptz default null, after_id bigint default null, batch integer default 1000, newest boolean default false
) returns table (found integer, last_run_at timestamptz, last_id bigint) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_from timestamptz := coalesce(promote_stranded_jobs.after_run_at, '-infinity');
    v_id   bigint := coalesce(promote_stranded_jobs.after_id, 0);
    v_most integer := least(promote_stranded_jobs.batch, 1000);  -- keys, whose locks fill a small and shared table
    v_ids  bigint[];
    v_keys text[];
    v_found integer := 0;
    v_last_run_at timestamptz;
    v_last_id     bigint;
begin
    if promote_stranded_jobs.newest then
        v_ids := array(select j.id from leasehold.jobs j where j.state = 'waiting' and j.run_at > '-infinity' order by j.run_at desc, j.id desc limit v_most);
    else
        v_ids := array(select j.id from leasehold.jobs j where j.state = 'waiting' and j.run_at > '-infinity' and (j.run_at, j.id) > (v_from, v_id)
                        order by j.run_at, j.id limit v_most);
        if cardinality(v_ids) = v_most then
            select j.run_at, j.id into v_last_run_at, v_last_id from leasehold.jobs j where j.id = v_ids[cardinality(v_ids)];
        end if;
    end if;
    if v_ids <> '{}' then
        select array_agg(s.key) into v_keys
          from (select distinct w.key from unnest(v_ids) i(id) cross join lateral (select j.key, j.queue, j.kind from leasehold.jobs j where j.id = i.id) w
                 where (select h.id from leasehold.jobs h where h.key = w.key and h.incarnation is not null limit 1) is null
                   and (select p.id from leasehold.jobs p
                         where p.key = w.key and p.queue = w.queue and p.kind = w.kind and p.state in ('pending', 'waiting') and p.state < 'waiting' limit 1) is null
                ) s
         where pg_try_advisory_xact_lock(leasehold.key_lock(s.key));
        if v_keys is not null then
            v_found := leasehold.promote_waiting_jobs(v_keys);
        end if;
    end if;
    return query select v_found, v_last_run_at, v_last_id;
end
$$;
