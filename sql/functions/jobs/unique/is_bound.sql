-- Purpose     Tell whether the job that has a unique key still keeps others out.
-- Parameters  job_id, since: who (the first job of its chain) has the key, and when it was claimed · terms: the `unique` of the other one · at: the time
-- Returns     true or false; false where the job is not known any more
-- Errors      none
-- Tables      jobs, finished_jobs (read)
create or replace function leasehold.is_bound(job_id bigint, since timestamptz, terms jsonb, at timestamptz) returns boolean language sql stable
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
select coalesce(
    not coalesce(is_bound.terms -> 'exclude' @> to_jsonb(is_bound.job_id), false)
    and coalesce(is_bound.since > is_bound.at - make_interval(secs => (is_bound.terms ->> 'window')::double precision), true)
    and coalesce(is_bound.terms -> 'states', '["pending", "scheduled", "waiting", "blocked", "claimed", "running"]')
        ? case when is_bound.terms ->> 'scope' = 'chain'
               then coalesce((select j.state from leasehold.jobs j where j.id = is_bound.job_id),
                             (select j.state from leasehold.jobs j where j.chain_id = is_bound.job_id),
                             (select t.state from leasehold.chain_tail(is_bound.job_id) t))
               else coalesce((select j.state from leasehold.jobs j where j.id = is_bound.job_id),
                             (select f.state from leasehold.finished_jobs f where f.id = is_bound.job_id order by f.finished_at desc limit 1)) end,
    false)
$$;
