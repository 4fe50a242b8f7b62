-- Purpose     Run failed and cancelled jobs once more. Their attempts go on, and if those are used up, one more is
--             allowed; a deadline no longer counts. The caller promotes the keys and wakes the queues.
-- Parameters  job_ids: which · note: for people, stands in the timeline
-- Returns     the jobs as they are now; of those with a unique key that another job has, the id alone with `holder`; nothing
--             for those that are in no such state
-- Errors      none
-- Tables      unique_jobs as reclaim_unique_jobs, finished_jobs (delete), jobs (insert), job_events (insert)
create or replace function leasehold.reopen_jobs(job_ids bigint[], note text)
returns table (job_id bigint, state text, key text, queue text, holder bigint) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_now     timestamptz := leasehold.clock();
    v_refused bigint[];
    v_holders bigint[];
begin
    select array_agg(r.job_id), array_agg(r.holder) into v_refused, v_holders from leasehold.reclaim_unique_jobs(reopen_jobs.job_ids) r;
    return query select r.id, null::text, null::text, null::text, r.holder from unnest(v_refused, v_holders) r(id, holder);
    return query
    with past as (
        delete from leasehold.finished_jobs f
         where f.id = any (reopen_jobs.job_ids) and f.state in ('failed', 'cancelled') and (v_refused is null or f.id <> all (v_refused))
        returning f.*
    ), noted as (
        insert into leasehold.job_events (job_id, at, event, attempt, claimed_at, started_at, worker_id, message, detail, actor)
        select p.id, p.finished_at, p.state, p.attempt, p.claimed_at, p.started_at, p.worker_id,
               case p.state when 'failed' then leasehold.describe_error(p.error) else p.error ->> 'message' end, p.error,
               case p.state when 'cancelled' then p.error ->> 'by' end from past p
        union all
        select p.id, v_now, 'retried', p.attempt, null, null, null, reopen_jobs.note, null, nullif(current_setting('leasehold.actor', true), '') from past p
    ), again as (
        insert into leasehold.jobs (id, created_at, run_at, priority, attempt, spared_attempts, max_attempts, state, kind, queue, key,
               args, metadata, error, chain_id, chain_position, key_group, timeout, traceparent)
        select p.id, p.created_at, v_now, p.priority, p.attempt, p.spared_attempts, greatest(p.max_attempts, p.attempt - p.spared_attempts + 1),
               case when exists (select from leasehold.job_blockers b where b.job_id = p.id and b.closed_at is null) then 'blocked'
                    when p.key is null then 'pending' else 'waiting' end,
               p.kind, p.queue, p.key, p.args, p.metadata, p.error, p.chain_id, p.chain_position, p.key_group, p.timeout, p.traceparent
          from past p
        returning id, state, key, queue
    )
    select a.id, a.state, a.key, a.queue, null::bigint from again a order by a.id;
end
$$;
