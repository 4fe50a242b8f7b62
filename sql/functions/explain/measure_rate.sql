-- Purpose     Tell how many jobs of a queue and kind finish per second now.
-- Parameters  queue, kind: which
-- Returns     as per_second of measure_rates; null where fewer than two were finished
-- Errors      none
-- Tables      as measure_rates
create or replace function leasehold.measure_rate(queue text, kind text) returns double precision language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
select r.per_second from leasehold.measure_rates(measure_rate.queue, measure_rate.kind) r
$$;
