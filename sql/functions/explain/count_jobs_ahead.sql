-- Purpose     Count the pending jobs of a queue and kind that are claimed before a given job, which may be of another
--             queue or kind.
-- Parameters  queue, kind: which · job: which · most: stop counting there
-- Returns     a number
-- Errors      none
-- Tables      jobs (read, eight ranges of the claim index)
create or replace function leasehold.count_jobs_ahead(queue text, kind text, job leasehold.all_jobs, most integer) returns integer language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
select count(*)::integer
  from (select from generate_series(0, 3) g(class)
         cross join lateral (
               select o.id from leasehold.jobs o
                where o.state = 'pending' and o.queue = count_jobs_ahead.queue and o.kind = count_jobs_ahead.kind
                  and leasehold.lane_class(o.crashes, o.key_group) = g.class
                  and o.priority > (count_jobs_ahead.job).priority
                union all
               select o.id from leasehold.jobs o
                where o.state = 'pending' and o.queue = count_jobs_ahead.queue and o.kind = count_jobs_ahead.kind
                  and leasehold.lane_class(o.crashes, o.key_group) = g.class
                  and o.priority = (count_jobs_ahead.job).priority and (coalesce(o.pending_at, o.run_at), o.id)
                      < (coalesce((select s.pending_at from leasehold.jobs s where s.id = (count_jobs_ahead.job).id), (count_jobs_ahead.job).run_at), (count_jobs_ahead.job).id)) o
         limit count_jobs_ahead.most) ahead
$$;
