-- Purpose     Do in one statement what an idle worker asks at each poll: whether a claim may find something (next_claim_in), and whether
--             it is its turn to look for leases that have run out (take_reap_turn). Now and then it asks on the way for its epoch
--             (find_epoch), and says that it is alive (heartbeat_worker). In another epoch than the known one it does nothing else.
--             Where there is nothing to claim, the worker counts as idle, in case its last claim could not say so.
--             Call it in a transaction of its own, which does not wait for the disk (synchronous_commit = off): what a crash of
--             Postgres would lose here, the next call says again.
-- Parameters  queues: those the worker serves, null or empty for all · every: as take_reap_turn
--             known, seen: as find_epoch; null known: the epoch is not asked for
--             incarnation: of the worker, null for nobody · vitals: JSON object with the parameters of heartbeat_worker by name; null vitals: no heartbeat
-- Returns     next_claim_in, is_reap_turn: as those functions, null in another epoch; of what is scheduled it tells
--             where something is due within the hour · epoch, position: as find_epoch, null where they
--             were not asked for, and on a standby · is_known: as heartbeat_worker, null without a heartbeat
--             are_told: whether there are commands for the worker; its next heartbeat of its own brings them
--             is_to_listen, idle_alike: as heartbeat_worker, null without a heartbeat
--             has_expired: whether reap_jobs or follow_clock has something to do; null where it is not the caller's turn
-- Errors      LH001 as heartbeat_worker
-- Tables      as find_epoch, heartbeat_worker, next_look_in, workers (row lock, unless somebody has it) and take_reap_turn, in this
--             order: the last two wait for nobody;
--             lane_marks, reap_turns, jobs (read, three index entries; held ones until one has expired)
create or replace function leasehold.look_for_work(
    queues text[], every interval, known bigint default null, seen bigint default null, incarnation uuid default null, vitals jsonb default null
) returns table (next_claim_in double precision, is_reap_turn boolean, epoch bigint, "position" bigint, is_known boolean, are_told boolean, has_expired boolean,
               is_to_listen boolean, idle_alike bigint)
language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_now      timestamptz := leasehold.clock();
    -- An assignment, since `perform` plans and runs a query.
    v_commits  text := set_config('synchronous_commit', 'off', true);
    v_is_open  boolean;
    v_is_soon  boolean;
    v_was_busy boolean;
    v_had_turn boolean;
begin
    if look_for_work.known is not null then
        select f.epoch, f.position into epoch, position from leasehold.find_epoch(look_for_work.known, look_for_work.seen) f;
        if epoch <> look_for_work.known then
            return next;
            return;
        end if;
    end if;
    if look_for_work.vitals is not null then
        -- Each by its name, which costs a worker that has slept a little less than jsonb_to_record.
        select h.is_known, h.commands is not null, h.is_to_listen, h.idle_alike into is_known, are_told, is_to_listen, idle_alike
          from leasehold.heartbeat_worker(look_for_work.incarnation, (vitals->>'active_jobs')::integer, vitals->>'state', (vitals->>'listening')::boolean,
               (vitals->>'slots')::integer, (vitals->>'memory')::double precision, (vitals->>'cpu')::double precision, vitals->>'backoff',
               (vitals->>'backoff_for')::double precision, (vitals->>'lost_wake_ups')::bigint, (vitals->>'rss')::bigint,
               (vitals->>'cpu_user')::double precision, (vitals->>'cpu_system')::double precision, (vitals->>'heartbeat_seconds')::double precision) h;
    end if;
    -- Mostly all is quiet: one statement tells it, and what tells more is asked only where there is something.
    select exists (select from leasehold.lane_marks)
           or exists (select from leasehold.jobs j where j.state = 'pending')
           or exists (select from leasehold.jobs j where j.state = 'waiting' and j.run_at > '-infinity'),
           exists (select from leasehold.jobs j where j.state = 'scheduled' and j.run_at < v_now + interval '1 hour'),
           exists (select from leasehold.workers w where w.incarnation = look_for_work.incarnation and not w.idle and w.stopped_at is null),
           exists (select from leasehold.reap_turns t where t.taken_at > v_now - look_for_work.every and t.taken_at <= v_now)
      into v_is_open, v_is_soon, v_was_busy, v_had_turn;
    if v_is_open then
        next_claim_in := 0;
    elsif v_is_soon then
        next_claim_in := leasehold.next_look_in(look_for_work.queues);
    end if;
    if v_was_busy and next_claim_in is distinct from 0 then
        update leasehold.workers w set idle = true, idle_since = leasehold.clock()
         where w.incarnation = (select o.incarnation from leasehold.workers o
                                 where o.incarnation = look_for_work.incarnation and not o.idle and o.stopped_at is null
                                   for no key update skip locked);
    end if;
    is_reap_turn := not v_had_turn and leasehold.take_reap_turn(look_for_work.every);
    if is_reap_turn then
        has_expired := exists (select from leasehold.lane_marks)
            or exists (select from leasehold.reap_turns t where t.set_back_at > leasehold.clock() - interval '1 minute')
            or exists (select from leasehold.jobs j where j.state in ('claimed', 'running') and j.lease_expires_at <= leasehold.clock());
    end if;
    return next;
end
$$;
