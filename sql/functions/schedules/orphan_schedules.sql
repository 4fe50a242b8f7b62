-- Purpose     Note which schedules an app declares, and mark those that it declared before and declares no more.
--             These go on firing until somebody disables or deletes them, or another app declares them. Schedules
--             that another app declares do not change.
-- Parameters  app: who declares, as module:attribute · names: all schedules that it declares now; {} gives up all
--             that it has, which is how an app whose module has another name by now gets its schedules back
-- Returns     the names of those that are marked by this
-- Errors      none
-- Tables      schedules (those of the app, in the order of their ids)
create or replace function leasehold.orphan_schedules(app text, names text[]) returns setof text language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    perform from leasehold.schedules s
      where s.declared is not null and (s.name = any (orphan_schedules.names) or s.declared_by = orphan_schedules.app)
      order by s.id for no key update;
    update leasehold.schedules s set declared_by = orphan_schedules.app, orphaned_at = null
     where s.declared is not null and s.name = any (orphan_schedules.names)
       and (s.declared_by is null or s.orphaned_at is not null);
    return query
    update leasehold.schedules s set orphaned_at = leasehold.clock()
     where s.declared_by = orphan_schedules.app and s.orphaned_at is null and not s.name = any (orphan_schedules.names)
    returning s.name;
end
$$;
