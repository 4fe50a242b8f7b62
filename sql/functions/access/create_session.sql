-- Purpose     Have a browser that showed a token signed in for a time. Sessions that have expired are removed.
-- Parameters  hash: of the session's secret, which the gateway made and the browser keeps · token_id: what it showed, null for the
--             token in the settings · lifetime: seconds, at most 30 days
-- Returns     for how many seconds it is signed in: not longer than the token lives
-- Errors      LH001 a value is refused · LH002 no such token, or it is not active
-- Tables      api_tokens (share), api_sessions (insert, delete), audit_log (insert)
create or replace function leasehold.create_session(hash bytea, token_id bigint default null, lifetime double precision default 43200)
returns double precision language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_now       timestamptz := leasehold.clock();
    v_token     leasehold.api_tokens;
    v_until     timestamptz;
    v_complaint text;
begin
    v_complaint := case
        when coalesce(octet_length(create_session.hash), 0) <> 32 then 'hash must be the 32 bytes of a SHA-256'
        when create_session.lifetime is null or not (create_session.lifetime >= 1 and create_session.lifetime <= 2592000)
            then 'lifetime must be from one second to 30 days' end;
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint;
    end if;
    v_until := v_now + make_interval(secs => create_session.lifetime);
    if create_session.token_id is not null then
        select * into v_token from leasehold.api_tokens t
         where t.id = create_session.token_id and t.revoked_at is null and (t.expires_at is null or t.expires_at > v_now) for share;
        if not found then
            raise exception using errcode = 'LH002', table = 'api_tokens', message = format('no token %s is active', create_session.token_id);
        end if;
        v_until := least(v_until, v_token.expires_at);
    end if;
    -- Whoever else has one of them locked removes it.
    delete from leasehold.api_sessions s where s.hash in (
        select o.hash from leasehold.api_sessions o where o.expires_at <= v_now order by o.expires_at limit 1000 for update skip locked);
    insert into leasehold.api_sessions (hash, token_id, created_at, expires_at)
    values (create_session.hash, create_session.token_id, v_now, v_until);
    perform leasehold.write_audit(coalesce(v_token.name, 'gateway_token'), v_token.id, 'create_session', '{}');
    return extract(epoch from v_until - v_now);
end
$$;
