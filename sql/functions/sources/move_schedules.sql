-- Purpose     Move the schedules of a source here, all in one transaction: each is disabled there in the transaction that makes it
--             here, so that one of the two fires. Calling it again does no harm.
-- Parameters  source: its name; null: the only one there is · only_disable: disable those that are enabled, and make none
--             dry_run: only tell
-- Returns     for each schedule that has not moved its table, its id there, its name here, the outcome (moved, disabled, refused), and
--             why it is refused: then it stays as it is there
-- Errors      LH001 the mapping does not fit · LH002 there is no such source
--             LH000 and LH004 never leave it: they become a complaint
-- Tables      an advisory lock of the name, those of the source, as create_schedule, moved_rows
create or replace function leasehold.move_schedules(source text default null, only_disable boolean default false, dry_run boolean default false)
returns table (source_table text, row_id text, name text, outcome text, complaint text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_source    leasehold.sources := leasehold.find_source(move_schedules.source, true);
    v_part      jsonb;
    v_row       record;
    v_doc       jsonb;
    v_statement text;
    v_only      boolean;
    v_some      boolean := false;
begin
    perform set_config('search_path', concat_ws(', ', 'pg_catalog', v_source.mapping ->> 'search_path', 'pg_temp'), true);
    for v_row in select p.part, r.* from jsonb_array_elements(v_source.mapping -> 'schedules') p(part), leasehold.read_source_rows(v_source, p.part, null, false) r loop
        v_part := v_row.part;
        v_doc := v_row.doc || jsonb_build_object('enabled', v_row.live or exists (
            select from leasehold.moved_rows m where m.source = v_source.source and m.source_table = v_part ->> 'table' and m.row_id = v_row.row_id));
        v_only := move_schedules.only_disable or coalesce(v_part ->> 'action' = 'disable', false);
        source_table := v_part ->> 'table';
        row_id := v_row.row_id;
        name := v_doc ->> 'name';
        outcome := case when v_only then 'disabled' else 'moved' end;
        complaint := case when not v_only then v_row.complaint end;
        continue when v_only and not v_row.live;
        begin
            if complaint is null and not v_only then
                perform leasehold.create_schedule(v_doc, 'moved from ' || v_source.source);
            end if;
            if complaint is null and not move_schedules.dry_run then
                insert into leasehold.moved_rows as m (source, source_table, row_id, outcome, schedule, moved_at)
                values (v_source.source, source_table, row_id, outcome, case outcome when 'moved' then name end, leasehold.clock())
                on conflict (source, source_table, row_id) do update set outcome = excluded.outcome, schedule = excluded.schedule, moved_at = excluded.moved_at;
                execute case when v_part ? 'moved' then format('update %s s set %s where s.ctid = $1', v_part ->> 'table', v_part ->> 'moved')
                             else format('delete from %s s where s.ctid = $1', v_part ->> 'table') end using v_row.place;
                v_some := true;
            end if;
            if move_schedules.dry_run then
                raise exception using errcode = 'LH000', message = 'undo it';
            end if;
        exception when others then
            if sqlstate not in ('LH000', 'LH001', 'LH004') and sqlstate !~ '^22' then
                raise;
            end if;
            complaint := coalesce(complaint, case when sqlstate <> 'LH000' then sqlerrm end);
        end;
        if complaint is not null then
            outcome := 'refused';
        end if;
        return next;
    end loop;
    if v_some then
        for v_statement in select a from jsonb_array_elements_text(v_source.mapping -> 'afterwards') a loop
            execute v_statement;
        end loop;
    end if;
end
$$;
