-- Purpose     List the egress identities, without the passwords of their proxies.
-- Parameters  everything: those that are retired, too
-- Returns     each by name · state: ready, leased, cooling or retired · refusals: in a row · cools_for: seconds it still cools ·
--             leased_job: the job that has it
-- Errors      none
-- Tables      egress_identities, jobs (read)
create or replace function leasehold.list_identities(everything boolean default false)
returns table (identity_id bigint, name text, state text, proxy text, proxy_user text, user_agent text, accept_language text, locale text,
               time_zone text, retire_after integer, cool_seconds double precision, refusals integer, refusals_total bigint, uses bigint, last_outcome text,
               used_at timestamptz, cools_for double precision, leased_job bigint, retired_at timestamptz, retire_reason text) language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select e.id, e.name, s.state, e.proxy, e.proxy_user, e.user_agent, e.accept_language, e.locale, e.time_zone, e.retire_after, e.cool_seconds,
       e.refusals, e.refusals_total, e.uses, e.last_outcome, e.used_at,
       case when s.state = 'cooling' then extract(epoch from e.cooling_until - leasehold.clock())::double precision end,
       case when s.state = 'leased' then e.leased_job end, e.retired_at, e.retire_reason
  from leasehold.egress_identities e
 cross join lateral (select case
           when e.retired_at is not null then 'retired' when leasehold.is_leased(e, leasehold.clock()) then 'leased'
           when e.cooling_until > leasehold.clock() then 'cooling' else 'ready' end as state) s
 where list_identities.everything or e.retired_at is null
 order by e.name
$$;
