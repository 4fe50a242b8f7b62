-- Purpose     Tell which files of the store no payload names, and no open transaction is about to name. Files younger than
--             payload_patience may still be named; the caller leaves them out.
-- Parameters  locations: paths in the store
-- Returns     the orphans among them
-- Errors      none
-- Tables      advisory locks, payloads (read)
create or replace function leasehold.list_orphan_files(locations text[]) returns setof text language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
declare
    v_free text[];
begin
    select coalesce(array_agg(l.location), '{}') into v_free
      from unnest(list_orphan_files.locations) l(location)
     where not exists (select from leasehold.payloads p where p.location = l.location)
       and pg_try_advisory_xact_lock(hashtextextended(l.location, 7001));
    -- A statement of its own: it sees what was committed before the locks were free.
    return query select f.location from unnest(v_free) f(location)
                  where not exists (select from leasehold.payloads p where p.location = f.location);
end
$$;
