-- Purpose     Fail jobs whose deadline has passed, in any state. A worker that runs one is told. A job whose key is being
--             settled right now is left for the next call, so that one open transaction holds up no other deadline.
-- Parameters  batch: how many at the most
-- Returns     how many were failed
-- Errors      none
-- Tables      jobs (rows locked in the order of their deadlines, locked ones skipped), as finish_jobs and close_chains, then
--             keys (only tried) as promote_waiting_jobs
create or replace function leasehold.expire_jobs(batch integer default 1000) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_now  timestamptz := leasehold.clock();
    v_ids  bigint[];
    v_keys text[];
begin
    v_ids := array(select j.id from leasehold.jobs j where j.deadline is not null and j.deadline <= v_now
                    order by j.deadline limit expire_jobs.batch for update skip locked);
    -- Only jobs in these states pass their key on.
    v_keys := array(select distinct j.key from leasehold.jobs j
                     where j.id = any (v_ids) and j.key is not null and j.state in ('pending', 'claimed', 'running'));
    if v_keys <> '{}' then
        v_keys := array(select k.key from unnest(v_keys) k(key) where not pg_try_advisory_xact_lock(leasehold.key_lock(k.key)));
        v_ids := array(select i.id from unnest(v_ids) with ordinality i(id, position)
                        where not exists (select from leasehold.jobs j where j.id = i.id and j.key = any (v_keys) and j.state in ('pending', 'claimed', 'running'))
                        order by i.position);
    end if;
    if v_ids = '{}' then
        return 0;
    end if;
    with ended as materialized (
        select f.* from leasehold.finish_jobs(
            v_ids, 'failed',
            -- Not a join, which would read all of an index where the table is believed to be empty.
            array(select (select jsonb_build_object('type', 'DeadlineExceeded', 'message', format('the deadline was %s; the job was %s', j.deadline, j.state))
                            from leasehold.jobs j where j.id = u.id)
                    from unnest(v_ids) with ordinality u(id, position) order by u.position),
            null, null, null, v_now) f
    ), told as (
        select count(leasehold.send_notice(format('lost:%s:%s:deadline', e.id, e.attempt))) as sent from ended e where e.incarnation is not null
    )
    select array_agg(e.key) filter (where e.state in ('pending', 'claimed', 'running') and e.key is not null)
           || leasehold.close_chains(array_agg(coalesce(e.chain_id, e.id)), false)
      into v_keys from ended e, told t;
    -- Ours by now, but for keys of jobs that were unblocked: where others are at one of these, the sweep promotes it.
    v_keys := array(select k.key from (select distinct u.key from unnest(v_keys) u(key)) k where pg_try_advisory_xact_lock(leasehold.key_lock(k.key)));
    if v_keys <> '{}' then
        perform leasehold.promote_waiting_jobs(v_keys);
    end if;
    return cardinality(v_ids);
end
$$;
