-- Purpose     Refill the token buckets of a queue up to now at their present rates, before these change.
-- Parameters  queue
-- Returns     nothing
-- Errors      none
-- Tables      limits (read), rate_buckets; the caller has the lock of the queue
create or replace function leasehold.refill_buckets(queue text) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
begin
    update leasehold.rate_buckets b
       set tokens = leasehold.bucket_level(b.tokens, b.filled_at, m.rate, m.burst, v_now), filled_at = greatest(b.filled_at, v_now)
      from (select c.key_group, l.rate, l.burst
              from leasehold.rate_buckets c
             cross join lateral (select l.rate, l.burst from leasehold.limits l
                                  where l.queue = refill_buckets.queue and l.key_group in (c.key_group, case when c.key_group <> '' then '*' end)
                                  order by l.key_group = '*' limit 1) l
             where c.queue = refill_buckets.queue and l.rate is not null) m
     where b.queue = refill_buckets.queue and b.key_group = m.key_group;
end
$$;
