-- Purpose     Refuse what others could not tell by whether a worker is alive: they all reckon with it.
-- Parameters  heartbeat_seconds: between the heartbeats of a worker, or null · active_jobs, state, listening: as heartbeat_worker
-- Returns     nothing
-- Errors      LH001 it is not above 0 and at most a day; another one is missing or not known
-- Tables      none
create or replace function leasehold.refuse_heartbeat(
    heartbeat_seconds double precision, active_jobs integer default 0, state text default 'ready', listening boolean default true
) returns void language plpgsql immutable
set search_path = leasehold, pg_catalog, pg_temp as $$
declare
    v_complaint text := case
        when (heartbeat_seconds > 0 and heartbeat_seconds <= 86400) is false
        then format('heartbeat_seconds must be above 0 and at most 86400, not %s', heartbeat_seconds)
        when (active_jobs >= 0) is not true then format('active_jobs must be 0 or more, not %s', coalesce(active_jobs::text, 'null'))
        when (state in ('ready', 'paused', 'draining')) is not true
        then format('state must be ready, paused or draining, not %s', coalesce(left(state, 200), 'null'))
        when listening is null then 'listening is missing' end;
begin
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint;
    end if;
end
$$;
