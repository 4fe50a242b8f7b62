-- Purpose     Remove token buckets that are full, because a missing bucket counts as full, and those that no limit
--             governs. This keeps the table as small as the number of groups that started something lately.
-- Parameters  none
-- Returns     how many
-- Errors      none
-- Tables      advisory locks of queues (only tried), limits (read), rate_buckets
create or replace function leasehold.drop_full_buckets() returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_now     timestamptz := leasehold.clock();
    v_queues  text[];
    v_dropped integer;
begin
    v_queues := array(select q.queue from (select distinct b.queue from leasehold.rate_buckets b) q
                       where pg_try_advisory_xact_lock(leasehold.queue_lock(q.queue)));
    delete from leasehold.rate_buckets b
     where b.queue = any (v_queues)
       and coalesce((select leasehold.bucket_level(b.tokens, b.filled_at, l.rate, l.burst, v_now) >= l.burst
                       from leasehold.limits l
                      where l.queue = b.queue and l.key_group in (b.key_group, case when b.key_group <> '' then '*' end)
                      order by l.key_group = '*' limit 1), true);
    get diagnostics v_dropped = row_count;
    return v_dropped;
end
$$;
