-- Purpose     Show what has happened in each queue since rollups are kept: counters that only grow, for metrics.
-- Parameters  none
-- Returns     rows of rollup_totals; waits and runs are histograms by bucket_bounds()
-- Errors      none
-- Tables      rollup_totals (read)
create or replace function leasehold.get_totals() returns setof leasehold.rollup_totals language sql stable
set search_path = leasehold, pg_catalog, pg_temp as $$
select * from leasehold.rollup_totals t order by t.queue
$$;
