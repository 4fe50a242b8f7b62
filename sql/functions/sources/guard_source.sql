-- Purpose     Keep the jobs of a sealed source from running there: the trigger that seal_source makes. An update that would give a
--             worker a job, or make a moved one pending again, does nothing and finds no row.
-- Parameters  none; the trigger's own arguments are the source, the table, the columns id and state, and which states mean
--             pending and running there
-- Returns     the row as it is to be, or null: no change
-- Errors      none
-- Tables      moved_rows (read)
create or replace function leasehold.guard_source() returns trigger language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
declare
    v_was text := to_jsonb(old) ->> tg_argv[3];
    v_is  text := to_jsonb(new) ->> tg_argv[3];
begin
    if v_is = any (tg_argv[5]::text[]) and v_was = any (tg_argv[5]::text[]) is not true then
        return null;
    elsif v_is = any (tg_argv[4]::text[]) and exists (
            select from leasehold.moved_rows m where m.source = tg_argv[0] and m.source_table = tg_argv[1] and m.row_id = to_jsonb(new) ->> tg_argv[2]) then
        return null;
    end if;
    return new;
end
$$;
