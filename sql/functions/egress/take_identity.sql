-- Purpose     Lease the egress identity that was used least recently, of those that are ready. With a job it is leased for as
--             long as this attempt holds its job: it is never renewed, and the reaper frees it together with the job. Without
--             a job it is leased for a time. Two callers at once get two identities.
-- Parameters  job_id, attempt, incarnation: the fencing token of the attempt; null for a lease without a job · seconds: how
--             long a lease without a job holds · wanted: the name of the one that is wanted; null for any · avoid: ids to pass over
-- Returns     the identity with its lease_token and the password of its proxy; or a row with identity_id null and, as wait_for, the
--             seconds until the first one has cooled (null: all are leased or retired) and, as left_over, how many are not retired
-- Errors      LH001 seconds out of range · LH003 the attempt does not hold the job
-- Tables      egress_identities (a row locked, locked ones skipped), jobs (read)
create or replace function leasehold.take_identity(
    job_id bigint default null, attempt integer default null, incarnation uuid default null, seconds double precision default 60,
    wanted text default null, avoid bigint[] default '{}'
) returns table (identity_id bigint, name text, lease_token bigint, proxy text, proxy_user text, proxy_password text, user_agent text,
                 accept_language text, locale text, time_zone text, wait_for double precision, left_over integer) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_taken leasehold.egress_identities;
begin
    if take_identity.job_id is null and not coalesce(take_identity.seconds > 0 and take_identity.seconds <= 3600, false) then
        raise exception using errcode = 'LH001', message = format('seconds must be more than 0 and at most 3600, not %s', coalesce(take_identity.seconds::text, 'null'));
    elsif take_identity.job_id is not null and not exists (
        select from leasehold.jobs j where j.id = take_identity.job_id and j.attempt = take_identity.attempt
                                       and j.incarnation = take_identity.incarnation and j.lease_expires_at > v_now) then
        raise exception using errcode = 'LH003', message = format('attempt %s does not hold job %s', take_identity.attempt, take_identity.job_id);
    end if;
    select e.* into v_taken from leasehold.egress_identities e
     where e.retired_at is null and coalesce(e.cooling_until <= v_now, true) and e.id <> all (take_identity.avoid)
       and (take_identity.wanted is null or e.name = take_identity.wanted) and not leasehold.is_leased(e, v_now)
     order by e.used_at nulls first, e.id limit 1 for no key update skip locked;
    if not found then
        return query
        select null::bigint, null::text, null::bigint, null::text, null::text, null::text, null::text, null::text, null::text, null::text,
               min(extract(epoch from e.cooling_until - v_now)) filter (where e.cooling_until > v_now)::double precision, count(*)::integer
          from leasehold.egress_identities e
         where e.retired_at is null and (take_identity.wanted is null or e.name = take_identity.wanted);
        return;
    end if;
    return query
    update leasehold.egress_identities e
       set lease_token = e.lease_token + 1, used_at = v_now, uses = e.uses + 1, leased_job = take_identity.job_id,
           leased_attempt = case when take_identity.job_id is not null then take_identity.attempt end,
           leased_incarnation = case when take_identity.job_id is not null then take_identity.incarnation end,
           lease_expires_at = case when take_identity.job_id is null then v_now + make_interval(secs => take_identity.seconds) end
     where e.id = v_taken.id
    returning e.id, e.name, e.lease_token, e.proxy, e.proxy_user, e.proxy_password, e.user_agent, e.accept_language, e.locale, e.time_zone,
              null::double precision, null::integer;
end
$$;
