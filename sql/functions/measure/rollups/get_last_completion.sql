-- Purpose     Tell when a job of a queue last completed.
-- Parameters  queue: which
-- Returns     the time; null where none is known
-- Errors      none
-- Tables      finished_jobs (the part that is not rolled up yet), rollup_totals, rollup_progress (read)
create or replace function leasehold.get_last_completion(queue text) returns timestamptz language sql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set plan_cache_mode = force_custom_plan as $$
select greatest((select t.last_completed_at from leasehold.rollup_totals t where t.queue = get_last_completion.queue),
                (select max(f.finished_at) from leasehold.finished_jobs f
                  where f.queue = get_last_completion.queue and f.state = 'completed'
                    and f.finished_at >= coalesce((select p.rolled_until from leasehold.rollup_progress p), '-infinity')))
$$;
