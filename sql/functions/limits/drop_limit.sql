-- Purpose     Remove a limit. It is gone for every claim after the commit.
-- Parameters  queue · key_group: as in set_limit
-- Returns     whether there was one
-- Errors      LH001 as refuse_queue · LH004 somebody claims from the queue in a transaction that does not end
-- Tables      the advisory lock of the queue, limits, rate_buckets, limit_turns, workers (read)
create or replace function leasehold.drop_limit(queue text, key_group text default '') returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
begin
    perform leasehold.refuse_queue(drop_limit.queue);
    if not exists (select from leasehold.limits l where l.queue = drop_limit.queue and l.key_group = coalesce(drop_limit.key_group, '')) then
        return false;
    end if;
    perform leasehold.lock_queue(drop_limit.queue);
    perform leasehold.refill_buckets(drop_limit.queue);
    delete from leasehold.limits l where l.queue = drop_limit.queue and l.key_group = coalesce(drop_limit.key_group, '');
    if not found then
        return false;
    end if;
    delete from leasehold.rate_buckets b
     where b.queue = drop_limit.queue
       and not exists (select from leasehold.limits l
                        where l.queue = b.queue and l.rate is not null and l.key_group in (b.key_group, case when b.key_group <> '' then '*' end));
    delete from leasehold.limit_turns t
     where t.queue = drop_limit.queue and not exists (select from leasehold.limits l where l.queue = t.queue and l.key_group > '');
    perform leasehold.wake_idle_workers(array[drop_limit.queue]);
    return true;
end
$$;
