-- Purpose     Add an access token. The caller made the secret and keeps it; the database gets its hash only. Two
--             tokens of a name may be active, so that one can replace the other while both work.
-- Parameters  name: of whoever gets it, as it stands in the audit log · hash: SHA-256 of the token · prefix: how it begins, for
--             people · scopes: of enqueue, read, operate, admin · expires_in: seconds, null for never · created_by: null for the database user
-- Returns     its id
-- Errors      LH001 a value is refused · LH004 two of this name are active already
-- Tables      an advisory lock of the name, api_tokens (insert), audit_log (insert)
create or replace function leasehold.create_token(
    name text, hash bytea, prefix text, scopes text[], expires_in double precision default null, created_by text default null
) returns bigint language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_now       timestamptz := leasehold.clock();
    v_scopes    text[] := array(select distinct s from unnest(create_token.scopes) s order by 1);
    v_maker     text := coalesce(nullif(create_token.created_by, ''), session_user);
    v_complaint text;
    v_id        bigint;
begin
    v_complaint := case
        when create_token.name is null or create_token.name !~ '^[A-Za-z0-9][A-Za-z0-9._@:/-]{0,62}$'
            then 'a name has 1 to 63 letters, digits and . _ @ : / -, and begins with a letter or digit'
        when coalesce(octet_length(create_token.hash), 0) <> 32 then 'hash must be the 32 bytes of a SHA-256'
        when coalesce(length(create_token.prefix), 0) not between 1 and 12 then 'prefix must have 1 to 12 characters'
        when v_scopes = '{}' then 'a token needs at least one scope'
        when not v_scopes <@ array['enqueue', 'read', 'operate', 'admin']
            then format('%L is no scope; there are enqueue, read, operate, admin',
                        (select s from unnest(v_scopes) s where s is null or s not in ('enqueue', 'read', 'operate', 'admin') limit 1))
        when not (create_token.expires_in > 0 and create_token.expires_in <= 315360000) then 'expires_in must be more than 0 seconds and at most ten years' end;
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint;
    end if;
    perform pg_advisory_xact_lock(hashtextextended('leasehold token ' || create_token.name, 0));
    if (select count(*) from leasehold.api_tokens t
         where t.name = create_token.name and t.revoked_at is null and (t.expires_at is null or t.expires_at > v_now)) >= 2 then
        raise exception using errcode = 'LH004', message = format('two tokens named %s are active already', create_token.name),
            hint = 'revoke the one that is not used any more';
    end if;
    insert into leasehold.api_tokens (name, hash, prefix, scopes, created_at, created_by, expires_at)
    values (create_token.name, create_token.hash, create_token.prefix, v_scopes, v_now, v_maker, v_now + make_interval(secs => create_token.expires_in))
    returning id into v_id;
    perform leasehold.write_audit(v_maker, null, 'create_token', jsonb_build_object('id', v_id, 'name', create_token.name, 'scopes', v_scopes));
    perform pg_notify('leasehold_access', 'tokens');
    return v_id;
end
$$;
