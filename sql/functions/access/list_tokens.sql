-- Purpose     List the access tokens, without anything that would let a reader use them.
-- Parameters  name: only of this one · everything: those that are revoked or have expired, too
-- Returns     each token, the newest first; state: active, expired or revoked
-- Errors      none
-- Tables      api_tokens (read)
create or replace function leasehold.list_tokens(name text default null, everything boolean default false)
returns table (token_id bigint, name text, prefix text, scopes text[], state text, created_at timestamptz,
               created_by text, expires_at timestamptz, last_used_at timestamptz, revoked_at timestamptz, revoked_by text) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
select t.id, t.name, t.prefix, t.scopes, s.state, t.created_at, t.created_by, t.expires_at, t.last_used_at, t.revoked_at, t.revoked_by
  from leasehold.api_tokens t
 cross join lateral (select case when t.revoked_at is not null then 'revoked' when t.expires_at <= leasehold.clock() then 'expired' else 'active' end as state) s
 where (list_tokens.name is null or t.name = list_tokens.name) and (list_tokens.everything or s.state = 'active')
 order by t.id desc
$$;
