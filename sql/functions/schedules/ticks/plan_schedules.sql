-- Purpose     Write down when the first ticks of new and changed schedules are. The first scheduler to do so counts;
--             a plan for an older revision is ignored.
-- Parameters  plans: JSON array of objects with id, revision, next_run_at (null: it has no ticks to come), error (why that is so)
-- Returns     how many were planned
-- Errors      none
-- Tables      schedules (rows locked, locked ones skipped)
create or replace function leasehold.plan_schedules(plans jsonb) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_plan    record;
    v_id      bigint;
    v_planned integer := 0;
begin
    for v_plan in select * from jsonb_to_recordset(plan_schedules.plans) p(id bigint, revision bigint, next_run_at timestamptz, error text) loop
        select s.id into v_id from leasehold.schedules s
         where s.id = v_plan.id and s.revision = v_plan.revision and s.planned_revision is distinct from s.revision for update skip locked;
        continue when not found;
        update leasehold.schedules s set planned_revision = s.revision, next_run_at = v_plan.next_run_at, last_error = v_plan.error where s.id = v_id;
        v_planned := v_planned + 1;
    end loop;
    return v_planned;
end
$$;
