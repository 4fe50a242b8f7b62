-- Purpose     Find the active token with this hash. Its use is noted, at most once a minute.
-- Parameters  hash: SHA-256 of the token
-- Returns     the token, with the seconds it has left (null: it does not expire); nothing where there is none that is active
-- Errors      none
-- Tables      api_tokens
create or replace function leasehold.find_token(hash bytea)
returns table (token_id bigint, name text, scopes text[], rate double precision, burst integer, expires_in double precision) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_token leasehold.api_tokens;
begin
    select * into v_token from leasehold.api_tokens t
     where t.hash = find_token.hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > v_now);
    if not found then
        return;
    end if;
    if v_token.last_used_at is null or v_token.last_used_at < v_now - interval '1 minute' then
        -- Whoever else has the row locked is about to note the same, or to revoke it.
        update leasehold.api_tokens t set last_used_at = v_now
         where t.id = (select o.id from leasehold.api_tokens o where o.id = v_token.id for no key update skip locked);
    end if;
    return query select v_token.id, v_token.name, v_token.scopes, v_token.rate, v_token.burst,
                        extract(epoch from v_token.expires_at - v_now)::double precision;
end
$$;
