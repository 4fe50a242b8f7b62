-- Purpose     Take one token for each of these jobs out of the buckets of its queue and of its group.
-- Parameters  places: jobs that are being claimed · at: when they start; a rate holds for these moments
-- Returns     nothing
-- Errors      none
-- Tables      limits, jobs (read), rate_buckets; the caller has the locks of the queues
create or replace function leasehold.spend_from_buckets(places tid[], at timestamptz) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
begin
    if not exists (select from leasehold.limits l where l.rate is not null) then
        return;
    end if;
    with spent as materialized (
        select u.queue, u.key_group, u.jobs, m.rate, m.burst
          from (select j.queue, g.key_group, count(*) as jobs
                  from leasehold.jobs j cross join lateral (values (''), (j.key_group)) g(key_group)
                 where j.ctid = any (spend_from_buckets.places) and g.key_group is not null
                 group by j.queue, g.key_group) u
         cross join lateral (select l.rate, l.burst from leasehold.limits l
                              where l.queue = u.queue and l.key_group in (u.key_group, case when u.key_group <> '' then '*' end)
                              order by l.key_group = '*' limit 1) m
         where m.rate is not null
    ), charged as (
        update leasehold.rate_buckets b
           set tokens = leasehold.bucket_level(b.tokens, b.filled_at, s.rate, s.burst, spend_from_buckets.at) - s.jobs, filled_at = greatest(b.filled_at, spend_from_buckets.at),
               full_at = case when leasehold.bucket_level(b.tokens, b.filled_at, s.rate, s.burst, spend_from_buckets.at) >= s.burst then spend_from_buckets.at else b.full_at end
          from spent s where b.queue = s.queue and b.key_group = s.key_group
        returning b.queue, b.key_group
    )
    insert into leasehold.rate_buckets (queue, key_group, tokens, filled_at, full_at)
    select s.queue, s.key_group, s.burst - s.jobs, spend_from_buckets.at, spend_from_buckets.at
      from spent s
     where not exists (select from charged c where c.queue = s.queue and c.key_group = s.key_group);
end
$$;
