-- Purpose     Tell when a worker that found too little should look again if nobody wakes it before: when the next
--             scheduled job comes due, or a rate limit lets a pending job start. In a fleet with more than 32 idle
--             workers each call tells so many of them, by chance, of the scheduled job, so that they do not all come at
--             its time; the others poll.
-- Parameters  queues: those it serves, null or empty for all
-- Returns     seconds, below 0 when a scheduled job is overdue, null when there is nothing to expect
-- Errors      none
-- Tables      jobs (read, one index entry), workers, limits, rate_buckets, queues, jobs (read, an index entry for each empty bucket)
create or replace function leasehold.next_look_in(queues text[] default null) returns double precision language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    c_woken constant integer := 32;
    v_now    timestamptz := leasehold.clock();
    v_queues text[] := nullif(next_look_in.queues, '{}');
    -- As next_due_in, whose plan Postgres would make anew at each call.
    v_due    double precision := (select extract(epoch from j.run_at - v_now) from leasehold.jobs j where j.state = 'scheduled' order by j.run_at limit 1);
begin
    -- Without the first test Postgres would count where there is no such job: null is not false.
    if v_due is not null and v_due > 0 and v_due < 3600 and random() * (select count(*) from leasehold.workers w where w.stopped_at is null and w.idle) > c_woken then
        v_due := null;
    end if;
    if not exists (select from leasehold.limits l where l.rate is not null) then
        return v_due;
    end if;
    return least(v_due, (
        select min((1 - t.level) / m.rate)
          from leasehold.rate_buckets b
         cross join lateral (select l.rate, l.burst from leasehold.limits l
                              where l.queue = b.queue and l.key_group in (b.key_group, case when b.key_group <> '' then '*' end)
                              order by l.key_group = '*' limit 1) m
         cross join lateral (select leasehold.bucket_level(b.tokens, b.filled_at, m.rate, m.burst, v_now) as level) t
         where (v_queues is null or b.queue = any (v_queues)) and m.rate is not null and t.level < 0.999999
           and not exists (select from leasehold.queues q where q.queue = b.queue and q.paused_at is not null)
           and case when b.key_group = ''
                    then (select j.id from leasehold.jobs j where j.state = 'pending' and j.queue = b.queue limit 1)
                    else (select j.id from leasehold.jobs j
                           where j.state = 'pending' and j.key_group is not null and j.crashes is null and j.queue = b.queue and j.key_group = b.key_group limit 1)
               end is not null));
end
$$;
