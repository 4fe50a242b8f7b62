-- Purpose     Give an egress identity back and say how it fared. One that was refused cools, twice as long each time in a row,
--             and retires after retire_after refusals in a row.
-- Parameters  identity_id, lease_token: as take_identity gave them · outcome: fine: ends the row of refusals · refused (403), or
--             unreachable (its proxy does not answer): cools and counts · busy (429): cools · null: says nothing ·
--             cool_for: seconds that the server asked for (Retry-After); it cools for as long at least, up to a day
-- Returns     the state after that: ready, cooling or retired
-- Errors      LH001 no such outcome · LH003 somebody else has leased it since, or it was given back
-- Tables      egress_identities
create or replace function leasehold.return_identity(
    identity_id bigint, lease_token bigint, outcome text default null, cool_for double precision default null
) returns text language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_now     timestamptz := leasehold.clock();
    v_counts  boolean := coalesce(return_identity.outcome in ('refused', 'unreachable'), false);
    v_row     leasehold.egress_identities;
    v_seconds double precision;
begin
    if return_identity.outcome not in ('fine', 'refused', 'busy', 'unreachable') then
        raise exception using errcode = 'LH001', message = format('%L is no outcome; there are fine, refused, busy, unreachable', return_identity.outcome);
    end if;
    select * into v_row from leasehold.egress_identities e where e.id = return_identity.identity_id for no key update;
    if not found or v_row.lease_token is distinct from return_identity.lease_token or num_nonnulls(v_row.leased_job, v_row.lease_expires_at) = 0 then
        raise exception using errcode = 'LH003', message = format('the lease %s of egress identity %s is over', return_identity.lease_token, return_identity.identity_id);
    end if;
    v_row.refusals := case when v_counts then v_row.refusals + 1 when return_identity.outcome = 'fine' then 0 else v_row.refusals end;
    v_seconds := case when v_counts or return_identity.outcome = 'busy'
        then least(86400, greatest(return_identity.cool_for, v_row.cool_seconds * power(2, least(greatest(v_row.refusals - 1, 0), 10)))) end;
    update leasehold.egress_identities e
       set refusals = v_row.refusals, refusals_total = e.refusals_total + v_counts::integer, last_outcome = coalesce(return_identity.outcome, e.last_outcome),
           cooling_until = case when v_seconds is null then e.cooling_until else v_now + make_interval(secs => v_seconds) end,
           retired_at = case when v_counts and v_row.refusals >= e.retire_after then coalesce(e.retired_at, v_now) else e.retired_at end,
           retire_reason = case when v_counts and v_row.refusals >= e.retire_after and e.retired_at is null
                                then format('%s %s times in a row', return_identity.outcome, v_row.refusals) else e.retire_reason end,
           leased_job = null, leased_attempt = null, leased_incarnation = null, lease_expires_at = null
     where e.id = v_row.id
    returning * into v_row;
    return case when v_row.retired_at is not null then 'retired' when v_row.cooling_until > v_now then 'cooling' else 'ready' end;
end
$$;
