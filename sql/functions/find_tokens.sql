-- Purpose     How many jobs a token bucket lets start now.
-- Parameters  queue, key_group: whose · rate, burst: of the limit
-- Returns     whole tokens
-- Errors      none
-- Tables      rate_buckets (read)
-- Callers     share_limit, list_open_groups
create or replace function leasehold.find_tokens(queue text, key_group text, rate double precision, burst integer)
returns integer language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_bucket leasehold.rate_buckets;
begin
    select b.* into v_bucket from leasehold.rate_buckets b where b.queue = find_tokens.queue and b.key_group = find_tokens.key_group;
    return floor(leasehold.bucket_level(v_bucket.tokens, v_bucket.filled_at, find_tokens.rate, find_tokens.burst, leasehold.clock()) + 0.000001);
end
$$;
