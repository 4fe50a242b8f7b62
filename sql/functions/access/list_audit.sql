-- Purpose     List who did what, newest first.
-- Parameters  actor: only by this one · action: only what begins so · since: only from then on · before_id: only older rows than
--             this one (the last of the page before) · page_size: how many at the most, 1 to 1000
-- Returns     the rows
-- Errors      LH001 page_size out of range
-- Tables      audit_log (read)
create or replace function leasehold.list_audit(
    actor text default null, action text default null, since timestamptz default null, before_id bigint default null, page_size integer default 100
) returns setof leasehold.audit_log language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    if coalesce(list_audit.page_size, 0) not between 1 and 1000 then
        raise exception using errcode = 'LH001', message = format('page_size must be from 1 to 1000, not %s', coalesce(list_audit.page_size::text, 'null'));
    end if;
    return query
    select a.* from leasehold.audit_log a
     where (list_audit.actor is null or a.actor = list_audit.actor) and (list_audit.action is null or starts_with(a.action, list_audit.action))
       and (list_audit.since is null or a.at >= list_audit.since) and (list_audit.before_id is null or a.id < list_audit.before_id)
     order by a.id desc limit list_audit.page_size;
end
$$;
