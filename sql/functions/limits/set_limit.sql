-- Purpose     Limit how many jobs of a queue, or of each key group of it, run at once and how many start in a second,
--             over all workers. The limit is in force for every claim after the commit; held jobs already count, and
--             nothing is taken back. A rate counts claims, each attempt again; a new bucket is full.
-- Parameters  queue · key_group: empty for the queue as a whole, * for each group of it, else one group, for which it takes
--             the place of *; a job has to fit both its queue's limit and its group's · max_running: how many may be held
--             at once, 0 for none · rate: starts a second on the long run, from 1e-7 (one in 116 days) to 1e6 · burst: how many at once after a pause, by
--             default those of one second, 1 at the least
-- Returns     whether this changed anything
-- Errors      LH001 as refuse_queue, nothing to limit, or a number out of range · LH004 somebody claims from the queue in a
--             transaction that does not end, or this one is stricter than read committed and cannot see what others hold
-- Tables      the advisory lock of the queue, limits, rate_buckets, jobs (held ones), workers (read)
create or replace function leasehold.set_limit(
    queue text, key_group text default '', max_running integer default null, rate double precision default null, burst integer default null
) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_group text := coalesce(set_limit.key_group, '');
    v_burst integer;
begin
    perform leasehold.refuse_queue(set_limit.queue);
    if set_limit.max_running is null and set_limit.rate is null then
        raise exception using errcode = 'LH001', message = 'a limit needs max_running, a rate, or both', hint = 'drop_limit takes a limit away';
    elsif set_limit.max_running < 0 then
        raise exception using errcode = 'LH001', message = format('max_running must be 0 or more, not %s', set_limit.max_running);
    elsif not (set_limit.rate >= 1e-7 and set_limit.rate <= 1000000) then
        raise exception using errcode = 'LH001', message = format('rate must be from 1e-7 (one in 116 days) to a million a second, not %s', set_limit.rate),
            hint = 'max_running 0 lets nothing start';
    elsif set_limit.burst is not null and set_limit.rate is null then
        raise exception using errcode = 'LH001', message = 'a burst needs a rate';
    elsif set_limit.burst < 1 then
        raise exception using errcode = 'LH001', message = format('burst must be 1 or more, not %s', set_limit.burst);
    elsif octet_length(v_group) > 500 then
        raise exception using errcode = 'LH001', message = format('key_group must have at most 500 bytes, not %s', octet_length(v_group));
    end if;
    v_burst := case when set_limit.rate is not null then coalesce(set_limit.burst, greatest(1, ceil(set_limit.rate))::integer) end;

    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        raise exception using errcode = 'LH004', message = 'limits can be set in read committed transactions only: a stricter one cannot see what others hold',
            hint = 'set transaction isolation level read committed; where the database has another default, set default_transaction_isolation for this session';
    end if;
    perform leasehold.lock_queue(set_limit.queue);
    perform leasehold.refill_buckets(set_limit.queue);
    insert into leasehold.limits as l (queue, key_group, max_running, rate, burst, set_at)
    values (set_limit.queue, v_group, set_limit.max_running, set_limit.rate, v_burst, leasehold.clock())
    on conflict (queue, key_group) do update
       set max_running = excluded.max_running, rate = excluded.rate, burst = excluded.burst, set_at = excluded.set_at
     where (l.max_running, l.rate, l.burst) is distinct from (excluded.max_running, excluded.rate, excluded.burst);
    if not found then
        return false;
    end if;
    -- No claim is under way: what it holds already counts from now on.
    update leasehold.jobs j set limited = true
     where j.queue = set_limit.queue and j.state in ('claimed', 'running') and j.limited is not true;
    perform leasehold.wake_idle_workers(array[set_limit.queue]);
    return true;
end
$$;
