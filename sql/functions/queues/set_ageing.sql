-- Purpose     Let the jobs of a queue gain priority while they wait, so that those of low priority start in the end,
--             however many of a higher one keep coming.
-- Parameters  queue · every: a pending job gains one priority for each such span that it has waited; null: no more ageing
-- Returns     whether this changed anything
-- Errors      LH001 as refuse_queue, or a span shorter than a second or longer than 30 days
-- Tables      queues
create or replace function leasehold.set_ageing(queue text, every interval default null) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    perform leasehold.refuse_queue(set_ageing.queue);
    if set_ageing.every not between interval '1 second' and interval '30 days' then
        raise exception using errcode = 'LH001', message = format('jobs gain a priority every 1 second to 30 days, not every %s', set_ageing.every);
    end if;
    if set_ageing.every is null then
        update leasehold.queues q set ageing = null, aged_at = null where q.queue = set_ageing.queue and q.ageing is not null;
    else
        insert into leasehold.queues as q (queue, ageing, aged_at) values (set_ageing.queue, set_ageing.every, leasehold.clock())
        on conflict (queue) do update set ageing = excluded.ageing, aged_at = excluded.aged_at where q.ageing is distinct from excluded.ageing;
    end if;
    return found;
end
$$;
