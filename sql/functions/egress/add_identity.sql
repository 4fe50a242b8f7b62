-- Purpose     Add an egress identity, or change the one of this name. A retired one comes back, with no refusals counted.
-- Parameters  name: of the identity · user_agent, accept_language: the headers it sends · locale, time_zone: where it seems to
--             be · proxy: http://host:port; null for none · proxy_user, proxy_password: for the proxy; null for none ·
--             retire_after: refusals in a row after which it retires · cool_seconds: how long it rests after the first refusal ·
--             added_by: for the audit log; null for the database user
-- Returns     its id
-- Errors      LH001 a value is refused
-- Tables      egress_identities, audit_log (insert, without the password)
create or replace function leasehold.add_identity(
    name text, user_agent text, accept_language text, locale text, time_zone text, proxy text default null, proxy_user text default null,
    proxy_password text default null, retire_after integer default 5, cool_seconds double precision default 60, added_by text default null
) returns bigint language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_complaint text;
    v_id        bigint;
begin
    v_complaint := case
        when add_identity.name is null or add_identity.name !~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,62}$'
            then 'a name has 1 to 63 letters, digits and . _ : -, and begins with a letter or digit'
        when coalesce(add_identity.user_agent, '') !~ '^[ -~]+$' or length(add_identity.user_agent) > 500
            then 'user_agent must be 1 to 500 printable characters of ASCII'
        when coalesce(add_identity.accept_language, '') !~ '^[A-Za-z0-9*,;=. -]{1,200}$'
            then 'accept_language must be as in de-DE,de;q=0.9'
        when coalesce(add_identity.locale, '') !~ '^[a-z]{2,3}-[A-Z]{2}$' then 'locale must be a language and a country, as de-DE'
        when not exists (select from pg_timezone_names z where z.name = add_identity.time_zone)
            then format('Postgres knows no time zone %L', add_identity.time_zone)
        when add_identity.proxy !~ '^(https?|socks5)://[A-Za-z0-9._-]+(:[0-9]{1,5})?$' and add_identity.proxy !~ E'^(https?|socks5)://\\[[0-9A-Fa-f:]+\\](:[0-9]{1,5})?$'
            then 'proxy must be http://host:port, without user and password: they are parameters of their own'
        when add_identity.proxy is null and num_nonnulls(add_identity.proxy_user, add_identity.proxy_password) > 0
            then 'proxy_user and proxy_password need a proxy'
        when add_identity.proxy_password is not null and add_identity.proxy_user is null then 'proxy_password needs proxy_user'
        when coalesce(add_identity.retire_after, 0) not between 1 and 1000 then 'retire_after must be from 1 to 1000'
        when not coalesce(add_identity.cool_seconds > 0 and add_identity.cool_seconds <= 86400, false)
            then 'cool_seconds must be more than 0 and at most a day' end;
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint;
    end if;
    insert into leasehold.egress_identities as e (name, proxy, proxy_user, proxy_password, user_agent, accept_language, locale, time_zone, retire_after,
                                                  cool_seconds, created_at)
    values (add_identity.name, add_identity.proxy, add_identity.proxy_user, add_identity.proxy_password, add_identity.user_agent,
            add_identity.accept_language, add_identity.locale, add_identity.time_zone, add_identity.retire_after, add_identity.cool_seconds,
            leasehold.clock())
    on conflict (name) do update
       set proxy = excluded.proxy, proxy_user = excluded.proxy_user, proxy_password = excluded.proxy_password, user_agent = excluded.user_agent,
           accept_language = excluded.accept_language, locale = excluded.locale, time_zone = excluded.time_zone,
           retire_after = excluded.retire_after, cool_seconds = excluded.cool_seconds, refusals = 0, cooling_until = null,
           retired_at = null, retire_reason = null
    returning id into v_id;
    perform leasehold.write_audit(add_identity.added_by, null, 'add_identity', jsonb_build_object('id', v_id, 'name', add_identity.name));
    return v_id;
end
$$;
