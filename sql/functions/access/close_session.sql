-- Purpose     Sign a browser out. Gateways that listen refuse the session at once, others within a second.
-- Parameters  hash: of the session's secret
-- Returns     whether it was signed in until now
-- Errors      none
-- Tables      api_sessions (delete)
create or replace function leasehold.close_session(hash bytea) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_until timestamptz;
begin
    delete from leasehold.api_sessions s where s.hash = close_session.hash returning s.expires_at into v_until;
    if not found then
        return false;
    end if;
    perform pg_notify('leasehold_access', 'sessions');
    return v_until > leasehold.clock();
end
$$;
