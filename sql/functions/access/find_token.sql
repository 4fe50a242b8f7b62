-- Purpose     Find the active token with this hash, or the one of the session with this hash. Its use is noted, at most once a minute.
-- Parameters  hash: SHA-256 of the token, or the hash of a session
-- Returns     the token, with the seconds that it or the session has left (null: it does not expire); nothing where there is
--             none that is active. For a session of the token in the settings: no token_id, its name and the scope admin
-- Errors      none
-- Tables      api_tokens, api_sessions
create or replace function leasehold.find_token(hash bytea)
returns table (token_id bigint, name text, scopes text[], expires_in double precision) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_token leasehold.api_tokens;
    v_until timestamptz;
begin
    select * into v_token from leasehold.api_tokens t
     where t.hash = find_token.hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > v_now);
    v_until := v_token.expires_at;
    if not found then
        select t.* into v_token from leasehold.api_sessions s left join leasehold.api_tokens t on t.id = s.token_id
         where s.hash = find_token.hash and s.expires_at > v_now
           and (s.token_id is null or (t.revoked_at is null and (t.expires_at is null or t.expires_at > v_now)));
        if not found then
            return;
        end if;
        select least(s.expires_at, v_token.expires_at) into v_until from leasehold.api_sessions s where s.hash = find_token.hash;
        if v_token.id is null then
            return query select null::bigint, 'gateway_token', array['admin'], extract(epoch from v_until - v_now)::double precision;
            return;
        end if;
    end if;
    if v_token.last_used_at is null or v_token.last_used_at < v_now - interval '1 minute' then
        -- Whoever else has the row locked is about to note the same, or to revoke it.
        update leasehold.api_tokens t set last_used_at = v_now
         where t.id = (select o.id from leasehold.api_tokens o where o.id = v_token.id for no key update skip locked);
    end if;
    return query select v_token.id, v_token.name, v_token.scopes, extract(epoch from v_until - v_now)::double precision;
end
$$;
