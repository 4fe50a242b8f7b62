-- Purpose     Write into the audit log what somebody is about to do.
-- Parameters  actor: who; null or empty for the database user · token_id: with which token · action: what, as METHOD /path, or the
--             name of a function · detail: of what · address: where from · request_id: which request
-- Returns     the id of the row
-- Errors      LH001 no action
-- Tables      audit_log (insert)
create or replace function leasehold.write_audit(
    actor text, token_id bigint, action text, detail jsonb default null, address text default null, request_id text default null
) returns bigint language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_id bigint;
begin
    if coalesce(write_audit.action, '') = '' then
        raise exception using errcode = 'LH001', message = 'an action to note must be named';
    end if;
    insert into leasehold.audit_log (at, actor, token_id, action, detail, address, request_id)
    values (leasehold.clock(), coalesce(nullif(write_audit.actor, ''), session_user), write_audit.token_id, write_audit.action,
            case when octet_length(write_audit.detail::text) > 16384 then jsonb_build_object('too_large', octet_length(write_audit.detail::text))
                 else write_audit.detail end,
            write_audit.address, write_audit.request_id)
    returning id into v_id;
    return v_id;
end
$$;
