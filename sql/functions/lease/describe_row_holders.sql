-- Purpose     Say which sessions hold the row of a job, in words for people.
-- Parameters  job_id
-- Returns     a text such as `session 4711 (application "leasehold worker 12 handlers", host 10.0.0.7, role app) holds its row since
--             …, idle in transaction since …`; null where nobody holds it. No statement is shown: others may read it
-- Errors      none
-- Tables      as list_row_holders
create or replace function leasehold.describe_row_holders(job_id bigint) returns text language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off as $$
select string_agg(
           coalesce('session ' || h.pid, 'no session') || format(' (application "%s", host %s, role %s) holds its row', h.application_name, coalesce(h.host, 'local'), h.role)
           || coalesce(' since ' || date_trunc('second', h.since), '')
           || coalesce(', ' || h.state || ' since ' || date_trunc('second', h.state_since), ''), '; ' order by h.since, h.pid)
  from leasehold.list_row_holders(array[describe_row_holders.job_id]) h
$$;
