-- Purpose     Revoke an access token. Gateways that listen refuse it at once, others within a second.
-- Parameters  token_id · revoked_by: null for the database user
-- Returns     whether it was not revoked before; one that has expired is revoked, too
-- Errors      LH002 no such token
-- Tables      api_tokens, audit_log (insert)
create or replace function leasehold.revoke_token(token_id bigint, revoked_by text default null) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_by    text := coalesce(nullif(revoke_token.revoked_by, ''), session_user);
    v_token leasehold.api_tokens;
begin
    select * into v_token from leasehold.api_tokens t where t.id = revoke_token.token_id for update;
    if not found then
        raise exception using errcode = 'LH002', table = 'api_tokens', message = format('there is no token %s', coalesce(revoke_token.token_id::text, 'null'));
    elsif v_token.revoked_at is not null then
        return false;
    end if;
    update leasehold.api_tokens t set revoked_at = leasehold.clock(), revoked_by = v_by where t.id = v_token.id;
    perform leasehold.write_audit(v_by, null, 'revoke_token', jsonb_build_object('id', v_token.id, 'name', v_token.name));
    perform pg_notify('leasehold_access', 'tokens');
    return true;
end
$$;
