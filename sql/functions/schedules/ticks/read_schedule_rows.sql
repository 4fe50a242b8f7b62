-- Purpose     Run the SELECT of a schedule and return its rows. It runs read only, in a subtransaction that is always
--             rolled back, as the role that the setting leasehold.query_role names (alter database … set
--             leasehold.query_role = …), with the search_path of the session. The caller limits its time with
--             statement_timeout.
-- Parameters  query: one SELECT · query_rows: more rows are refused · only_plan: do not run it, look whether it could be
-- Returns     each row as a JSON object
-- Errors      LH001 it is not one SELECT, it failed or was cancelled, or gave too many or too large rows (64 MB together)
--             LH004 the roles of `leasehold grants` are in force and this function has lost its own; LH000 never leaves it
-- Tables      those of the query
create or replace function leasehold.read_schedule_rows(query text, query_rows integer default 10000, only_plan boolean default false)
returns setof jsonb language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_role  text := nullif(current_setting('leasehold.query_role', true), '');
    v_path  text := (select s.reset_val from pg_settings s where s.name = 'search_path');
    v_rows  jsonb[] := '{}';
    v_row   jsonb;
    v_plan  text;
    v_bytes bigint := 0;
    v_done  boolean := false;
begin
    -- Where the roles of `leasehold grants` are in force, this runs as the role `query` and never as whoever called.
    if exists (select from pg_namespace n join pg_roles o on o.oid = n.nspowner
                 join pg_roles q on q.rolname = regexp_replace(o.rolname, 'owner$', 'query') and q.rolname <> o.rolname
                where n.nspname = 'leasehold' and q.rolname <> current_user) then
        raise exception using errcode = 'LH004', message = 'stored queries have lost their role', hint = 'run leasehold grants --apply';
    end if;
    begin
        perform set_config('transaction_read_only', 'on', true), set_config('search_path', v_path, true);
        if v_role is not null then
            perform set_config('role', v_role, true);
        end if;
        -- As loops over a cursor, because that takes one statement and no more; the line break ends a comment of the query.
        if read_schedule_rows.only_plan then
            for v_plan in execute format(E'explain select to_jsonb(q) from (%s\n) q', read_schedule_rows.query) loop
                exit;
            end loop;
        else
            for v_row in execute format(E'select to_jsonb(q) from (%s\n) q limit %s', read_schedule_rows.query, read_schedule_rows.query_rows + 1) loop
                v_rows := v_rows || v_row;
                v_bytes := v_bytes + pg_column_size(v_row);
                if v_bytes > 67108864 then
                    raise exception using errcode = 'LH001', message = 'the rows take more than 64 MB';
                end if;
            end loop;
        end if;
        v_done := true;
        raise exception using errcode = 'LH000', message = 'undo it';
    exception
        when query_canceled then
            raise exception using errcode = 'LH001', message = 'the query was cancelled, because it took too long or by hand';
        when others then
            if not v_done and (sqlstate = '42P11' or sqlstate = '42601' and (sqlerrm like '%";"%'
                    or read_schedule_rows.query !~* E'^(\\s|\\(|--[^\\n]*\\n|/\\*.*\\*/)*(select|with|values|table)\\M')) then
                raise exception using errcode = 'LH001', message = format('a schedule''s query must be one SELECT, and nothing after it: %s [SQLSTATE %s]', sqlerrm, sqlstate);
            elsif not v_done then
                raise exception using errcode = 'LH001', message = format('the query failed: %s [SQLSTATE %s]', sqlerrm, sqlstate);
            end if;
    end;
    if cardinality(v_rows) > read_schedule_rows.query_rows then
        raise exception using errcode = 'LH001', message = format('the query has more than %s rows', read_schedule_rows.query_rows),
            hint = 'raise query_rows, or have it select less';
    end if;
    return query select u.doc from unnest(v_rows) with ordinality u(doc, position) order by u.position;
end
$$;
