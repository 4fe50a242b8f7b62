-- Purpose     Refuse what others could not tell by whether a worker is alive: they all reckon with it.
-- Parameters  heartbeat_seconds: between the heartbeats of a worker, or null
-- Returns     nothing
-- Errors      LH001 it is not above 0 and at most a day
-- Tables      none
create or replace function leasehold.refuse_heartbeat(heartbeat_seconds double precision) returns void language plpgsql immutable
set search_path = leasehold, pg_catalog, pg_temp as $$
begin
    if (heartbeat_seconds > 0 and heartbeat_seconds <= 86400) is false then
        raise exception using errcode = 'LH001', message = format('heartbeat_seconds must be above 0 and at most 86400, not %s', heartbeat_seconds);
    end if;
end
$$;
