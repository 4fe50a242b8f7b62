-- Purpose     Remove a chain with all its jobs, finished or not, and their edges, events, logs and progress; one
--             event `deleted` remains under its id. Workers that run a job of it are told not_found. With cascade,
--             the chains that block its jobs are removed too, and those below them, except chains that an unfinished
--             job outside still waits for: these stay, with all below them. A job that is enqueued with this chain as
--             a blocker at this very moment may stay blocked by a chain that is gone; no lock prevents that.
-- Parameters  chain_id: id of the first job · cascade
-- Returns     ids of the chains that were removed, ascending
-- Errors      LH002 no such chain · LH004 a job outside waits for it (the message names the first)
-- Tables      as lock_chains, payloads (hidden where they are args or outputs), jobs, finished_jobs, job_blockers, job_events, job_logs, job_progress (deleted), job_events
--             (insert), chain_waiters as close_chains, then keys as promote_waiting_jobs
create or replace function leasehold.delete_chain(chain_id bigint, cascade boolean default false) returns bigint[] language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_now    timestamptz := leasehold.clock();
    v_chains bigint[] := array[delete_chain.chain_id];
    v_locked bigint[] := '{}';
    v_kept   bigint[] := '{}';
    v_needed bigint[];
    v_jobs   bigint[];
    v_keys   text[];
    v_sent   bigint;
    v_refusal text;
begin
    loop
        v_chains := array(
            with recursive below(id) as (
                select delete_chain.chain_id
                union
                select b.chain_id
                  from below w
                 cross join lateral leasehold.chain_jobs(w.id) j
                 -- offset 0, here and below: no plan may begin with the edges of all jobs
                 cross join lateral (select e.chain_id from leasehold.job_blockers e where e.job_id = j.job_id offset 0) b
                 where delete_chain.cascade and b.chain_id not in (select unnest(v_kept))
            )
            select w.id from below w order by w.id);
        if v_chains <> v_locked and v_kept = '{}' then
            perform leasehold.lock_chains(v_chains);
            v_locked := v_chains;
            continue;
        end if;
        v_needed := array(select distinct b.chain_id
                            from unnest(v_chains) c(id)
                           cross join lateral (select e.chain_id, e.job_id from leasehold.job_blockers e where e.chain_id = c.id and e.closed_at is null offset 0) b
                           cross join lateral (select o.id, o.chain_id from leasehold.jobs o where o.id = b.job_id offset 0) j
                           where c.id <> delete_chain.chain_id and coalesce(j.chain_id, j.id) not in (select unnest(v_chains)));
        exit when v_needed = '{}';
        v_kept := v_kept || v_needed;
    end loop;
    if not exists (select from leasehold.chain_tail(delete_chain.chain_id)) then
        perform leasehold.refuse_chain(delete_chain.chain_id, 'deleted');
    end if;

    v_refusal := leasehold.describe_waiters(delete_chain.chain_id, v_chains);
    if v_refusal is not null then
        raise exception using errcode = 'LH004', message = v_refusal, hint = 'cancel or delete what waits first; list_blocked_jobs lists all';
    end if;

    insert into leasehold.job_events (job_id, at, event, attempt, message, detail)
    select g.chain_id, v_now, 'deleted', 0, format('by %s', session_user),
           jsonb_build_object('by', session_user, 'kind', g.kind, 'queue', g.queue, 'state', g.state, 'jobs', g.jobs, 'with_chain', delete_chain.chain_id)
      from leasehold.get_chains(v_chains) g;
    v_jobs := array(select j.job_id from unnest(v_chains) c(id) cross join lateral leasehold.chain_jobs(c.id) j);
    with gone as (
        delete from leasehold.jobs j where j.id = any (v_jobs) returning j.id, j.attempt, j.incarnation, j.key, j.state
    )
    select array_agg(g.key) filter (where g.key is not null and g.state not in ('waiting', 'scheduled', 'blocked')),
           count(case when g.incarnation is not null then leasehold.send_notice(format('lost:%s:%s:not_found', g.id, g.attempt)) end)
      into v_keys, v_sent from gone g;
    delete from leasehold.finished_jobs f where f.id = any (v_jobs);
    delete from leasehold.job_blockers b where b.job_id = any (v_jobs);
    delete from leasehold.job_events e where e.job_id = any (v_jobs) and e.event <> 'deleted';
    delete from leasehold.job_logs l where l.job_id = any (v_jobs);
    delete from leasehold.job_progress p where p.job_id = any (v_jobs);
    update leasehold.payloads p set expired_at = coalesce(p.expired_at, v_now) where p.job_id = any (v_jobs) and p.is_claim;
    v_keys := v_keys || leasehold.close_chains(v_chains, false);
    if v_keys <> '{}' then
        perform leasehold.promote_waiting_jobs(v_keys);
    end if;
    return v_chains;
end
$$;
