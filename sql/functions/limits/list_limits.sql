-- Purpose     List the limits, and how far each is used now.
-- Parameters  queue: only of this one
-- Returns     each limit: running: jobs held under it, of * those of the group (without a limit of its own) that holds most
--             tokens: how many may start now, of * in the emptiest bucket; null without a rate · next_token_in: seconds
--             until one more may start, 0 when one may now, null without a rate
-- Errors      none
-- Tables      limits, rate_buckets, jobs (read, held jobs only)
create or replace function leasehold.list_limits(queue text default null)
returns table (queue text, key_group text, max_running integer, rate double precision, burst integer, running integer,
               tokens double precision, next_token_in double precision) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select l.queue, l.key_group, l.max_running, l.rate, l.burst, coalesce(h.running, 0)::integer, t.level, greatest(0, 1 - t.level) / l.rate
  from leasehold.limits l
  left join lateral (
       select max(g.running) as running
         from (select count(*) as running
                 from leasehold.jobs j
                where j.queue = l.queue and j.limited and j.incarnation is not null
                  and case l.key_group when '' then true
                           when '*' then j.key_group is not null
                                         and not exists (select from leasehold.limits n where n.queue = l.queue and n.key_group = j.key_group)
                           else j.key_group = l.key_group end
                group by case when l.key_group <> '' then j.key_group end) g) h on true
  left join lateral (
       select coalesce(min(leasehold.bucket_level(b.tokens, b.filled_at, l.rate, l.burst, leasehold.clock())), l.burst) as level
         from leasehold.rate_buckets b
        where b.queue = l.queue
          and case l.key_group when '*' then b.key_group <> '' and not exists (select from leasehold.limits n where n.queue = l.queue and n.key_group = b.key_group)
                               else b.key_group = l.key_group end) t on l.rate is not null
 where list_limits.queue is null or l.queue = list_limits.queue
 order by l.queue, l.key_group
$$;
