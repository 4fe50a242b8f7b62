-- Purpose     Give back the tokens of jobs that were claimed and never started. If somebody claims from the queue in
--             an open transaction, the tokens are lost: a rate limit may be kept too strictly, never too loosely. For
--             the same reason a job gives nothing back that was claimed before its limit was last set, or before its bucket
--             was last full: what it took has been filled in again since.
-- Parameters  queues, key_groups, claimed_ats: of the jobs, groups null where they have none
-- Returns     nothing
-- Errors      none
-- Tables      advisory locks of queues (waited for, 50 ms each), limits (read), rate_buckets
create or replace function leasehold.return_to_buckets(queues text[], key_groups text[], claimed_ats timestamptz[]) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_queue text;
begin
    for v_queue in
        select distinct l.queue from leasehold.limits l where l.queue = any (return_to_buckets.queues) and l.rate is not null order by 1
    loop
        continue when not leasehold.wait_for_queue(v_queue);
        with returned as materialized (
            select u.key_group, m.rate, m.burst, count(*) filter (where u.claimed_at > m.set_at and u.claimed_at >= k.full_at) as jobs
              from (select g.key_group, r.claimed_at
                      from unnest(return_to_buckets.queues, return_to_buckets.key_groups, return_to_buckets.claimed_ats) r(queue, key_group, claimed_at)
                     cross join lateral (values (''), (r.key_group)) g(key_group)
                     where r.queue = v_queue and g.key_group is not null) u
             cross join lateral (select l.rate, l.burst, l.set_at from leasehold.limits l
                                  where l.queue = v_queue and l.key_group in (u.key_group, case when u.key_group <> '' then '*' end)
                                  order by l.key_group = '*' limit 1) m
              join leasehold.rate_buckets k on k.queue = v_queue and k.key_group = u.key_group
             where m.rate is not null
             group by u.key_group, m.rate, m.burst
        )
        update leasehold.rate_buckets b
           set tokens = least(r.burst, leasehold.bucket_level(b.tokens, b.filled_at, r.rate, r.burst, v_now) + r.jobs),
               filled_at = greatest(b.filled_at, v_now)
          from returned r where b.queue = v_queue and b.key_group = r.key_group;
    end loop;
end
$$;
