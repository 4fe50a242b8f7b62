-- Purpose     Set the books anew after the clock of the database was set back: what they have of a time that has not come yet counts
--             as of now. Held jobs have the whole of their lease before them, so that those of a dead worker come back after one
--             lease; workers, commands, token buckets, limits, ageing, unique keys, marks of lanes, egress identities, kinds, rollups and schedules
--             (replan_schedules) go on. What is to run at a time, and deadlines, stay as they are: these times may be
--             somebody's wish. take_reap_turn notices a clock that was set back; for a minute after that, each call looks
--             again, since a transaction that was under way may have written the former time. Else it reads one row.
-- Parameters  none
-- Returns     by how much the clock was set back at the least, if that was noticed within the last minute, else null
-- Errors      none
-- Tables      reap_turns (read); an advisory lock of the accountant (only tried); rows that others have locked are skipped everywhere:
--             jobs, workers, worker_commands, rate_buckets, limits, queues, unique_jobs, lane_marks, egress_identities, kinds, kind_versions,
--             rollup_progress, rollup_marks, depth_counts, finished_counts, as replan_schedules
create or replace function leasehold.follow_clock() returns interval language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
    v_by  interval := (select t.set_back_by from leasehold.reap_turns t where t.set_back_at > v_now - interval '1 minute');
begin
    if v_by is null then
        return null;
    end if;
    update leasehold.jobs j
       set claimed_at = least(j.claimed_at, v_now), started_at = case when j.started_at > v_now then v_now else j.started_at end,
           heartbeat_at = case when j.heartbeat_at > v_now then v_now else j.heartbeat_at end,
           lease_expires_at = case when coalesce(j.heartbeat_at, j.claimed_at) > v_now
                                   then v_now + (j.lease_expires_at - coalesce(j.heartbeat_at, j.claimed_at)) else j.lease_expires_at end
     where j.id = any (array(select o.id from leasehold.jobs o
                              where o.state in ('claimed', 'running') and greatest(o.claimed_at, o.heartbeat_at) > v_now for update skip locked));
    -- Which of the two was later is not known any more; one that is dead will be silent.
    update leasehold.workers w
       set heartbeat_at = least(w.heartbeat_at, v_now), lost_at = case when w.lost_at > v_now then least(w.heartbeat_at, v_now) else w.lost_at end,
           idle_since = case when w.idle_since > v_now then v_now else w.idle_since end
     where w.incarnation = any (array(select o.incarnation from leasehold.workers o
                                       where o.stopped_at is null and greatest(o.heartbeat_at, o.lost_at, o.idle_since) > v_now for no key update skip locked));
    update leasehold.worker_commands c set created_at = v_now, expires_at = v_now + (c.expires_at - c.created_at)
     where c.id = any (array(select o.id from leasehold.worker_commands o where o.done_at is null and o.created_at > v_now for no key update skip locked));
    update leasehold.rate_buckets b set filled_at = v_now, full_at = least(b.full_at, v_now)
     where b.ctid = any (array(select o.ctid from leasehold.rate_buckets o where o.filled_at > v_now for update skip locked));
    update leasehold.limits l set set_at = v_now
     where l.ctid = any (array(select o.ctid from leasehold.limits o where o.set_at > v_now for update skip locked));
    update leasehold.queues q set aged_at = v_now
     where q.queue = any (array(select o.queue from leasehold.queues o where o.aged_at > v_now for update skip locked));
    update leasehold.unique_jobs u set created_at = v_now
     where u.unique_key = any (array(select o.unique_key from leasehold.unique_jobs o where o.created_at > v_now for no key update skip locked));
    delete from leasehold.lane_marks m
     where m.ctid = any (array(select o.ctid from leasehold.lane_marks o
                                where o.since > v_now or o.next_look_at > v_now + interval '1 minute' for update skip locked));
    update leasehold.egress_identities e
       set used_at = v_now, cooling_until = e.cooling_until - (e.used_at - v_now), lease_expires_at = e.lease_expires_at - (e.used_at - v_now)
     where e.id = any (array(select o.id from leasehold.egress_identities o where o.used_at > v_now for no key update skip locked));
    update leasehold.kind_versions v set newest_at = least(v.newest_at, v_now), declared_at = least(v.declared_at, v_now)
     where v.ctid = any (array(select o.ctid from leasehold.kind_versions o where greatest(o.newest_at, o.declared_at) > v_now for update skip locked));
    update leasehold.kinds k set declared_at = v_now
     where k.kind = any (array(select o.kind from leasehold.kinds o where o.declared_at > v_now for no key update skip locked));
    if pg_try_advisory_xact_lock(hashtextextended('leasehold accountant', 0)) then
        -- What lies between is written again, as where somebody might still have added to it, so no count goes down.
        update leasehold.rollup_progress p set final_until = date_bin('1 minute', v_now, 'epoch') where p.final_until > v_now;
        delete from leasehold.rollup_marks m where m.taken_at > v_now;
        update leasehold.depth_counts c set counted_at = v_now where c.counted_at > v_now;
        update leasehold.finished_counts c set counted_at = v_now where c.counted_at > v_now;
    end if;
    perform leasehold.replan_schedules();
    return v_by;
end
$$;
