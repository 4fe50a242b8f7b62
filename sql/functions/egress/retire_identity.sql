-- Purpose     Retire an egress identity: nobody gets it any more. Whoever has it may finish. add_identity brings it back.
-- Parameters  name: of the identity · reason: for people · retired_by: null for the database user
-- Returns     whether it was in use until now
-- Errors      LH002 no such identity
-- Tables      egress_identities, audit_log (insert)
create or replace function leasehold.retire_identity(name text, reason text default null, retired_by text default null) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    update leasehold.egress_identities e
       set retired_at = leasehold.clock(), retire_reason = coalesce(nullif(retire_identity.reason, ''), 'by hand')
     where e.name = retire_identity.name and e.retired_at is null;
    if found then
        perform leasehold.write_audit(retire_identity.retired_by, null, 'retire_identity', jsonb_build_object('name', retire_identity.name));
        return true;
    elsif not exists (select from leasehold.egress_identities e where e.name = retire_identity.name) then
        raise exception using errcode = 'LH002', table = 'egress_identities',
            message = format('there is no egress identity %L', retire_identity.name);
    end if;
    return false;
end
$$;
