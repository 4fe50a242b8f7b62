-- Purpose     Count the egress identities by state. A worker whose kinds need one asks before it starts.
-- Parameters  none
-- Returns     each state that has any: ready, leased, cooling, retired
-- Errors      none
-- Tables      as list_identities
create or replace function leasehold.count_identities() returns table (state text, identities integer) language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select i.state, count(*)::integer from leasehold.list_identities(true) i group by i.state order by i.state
$$;
