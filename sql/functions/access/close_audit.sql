-- Purpose     Write the result of an action into its row of the audit log.
-- Parameters  audit_id: the row, as write_audit returned it · status: the HTTP status of the answer
-- Returns     whether it was open until now; nobody changes a row twice
-- Errors      none
-- Tables      audit_log
create or replace function leasehold.close_audit(audit_id bigint, status integer) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    update leasehold.audit_log a set status = close_audit.status where a.id = close_audit.audit_id and a.status is null;
    return found;
end
$$;
