-- Purpose     List the leases that workers hold, those first that run out next. Held jobs are few: no more than workers have slots.
-- Parameters  worker: id, name or incarnation, or a beginning that only one has: only its · most: 1 to 10000
-- Returns     the job, its attempt and who has it · held_for: seconds since it was claimed · runs_for: since its handler began, null:
--             not yet · age: since the lease was given or renewed last · left: until it runs out, less than 0: it has
-- Errors      LH001 most out of range, or several living workers are meant · LH002 there is no such worker
-- Tables      jobs (read, held jobs only), workers (read)
create or replace function leasehold.list_leases(worker text default null, most integer default 1000)
returns table (
    job_id bigint, kind text, queue text, key text, state text, attempt integer, worker_id text, incarnation uuid,
    lease_expires_at timestamptz, held_for double precision, runs_for double precision, age double precision, "left" double precision
) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_now         timestamptz := leasehold.clock();
    v_incarnation uuid := case when list_leases.worker is not null then leasehold.find_worker(list_leases.worker) end;
begin
    if coalesce(list_leases.most, 0) not between 1 and 10000 then
        raise exception using errcode = 'LH001', message = format('most must be from 1 to 10000, not %s', coalesce(list_leases.most::text, 'null'));
    end if;
    return query
    select j.id, j.kind, j.queue, j.key, j.state, j.attempt, j.worker_id, j.incarnation, j.lease_expires_at,
           greatest(0, date_part('epoch', v_now - j.claimed_at)), case when j.started_at is not null then greatest(0, date_part('epoch', v_now - j.started_at)) end,
           greatest(0, date_part('epoch', v_now - coalesce(j.heartbeat_at, j.claimed_at))), date_part('epoch', j.lease_expires_at - v_now)
      from leasehold.jobs j
     where j.state in ('claimed', 'running') and (v_incarnation is null or j.incarnation = v_incarnation)
     order by j.lease_expires_at, j.id limit list_leases.most;
end
$$;
