-- Purpose     Tell what moving a source would do: the dry run. Nothing is locked or changed.
-- Parameters  source: its name; null: the only one there is
-- Returns     for each table and each state in it: what it means here (null: the mapping does not know it, and nothing moves), how many
--             rows, how many of the pending ones are refused, and why the first is. Schedules have the state schedule and mean
--             pending until they have moved. Rows that moved before mean moved, cancelled or disabled, whatever they say there.
-- Errors      LH001 the mapping does not fit · LH002 there is no such source
-- Tables      those of the source, moved_rows (read), schedules (read), kinds (read)
create or replace function leasehold.plan_move(source text default null)
returns table (source_table text, state text, means text, row_count bigint, refused bigint, complaint text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_source leasehold.sources := leasehold.find_source(plan_move.source, false);
    v_part   jsonb;
    v_query  text;
begin
    perform set_config('search_path', concat_ws(', ', 'pg_catalog', v_source.mapping ->> 'search_path', 'pg_temp'), true);
    for v_part in select p from jsonb_array_elements(v_source.mapping -> 'jobs') p loop
        v_query := format('select (s.%I)::text, count(*) from %s s where not exists (select from leasehold.moved_rows m where m.source = $1 '
                          'and m.source_table = $2 and m.row_id = (s.%I)::text) group by 1 order by 1', v_part ->> 'state', v_part ->> 'table', v_part ->> 'id');
        begin
            for source_table, state, row_count in execute 'select $2, c.* from (' || v_query || ') c' using v_source.source, v_part ->> 'table' loop
                means := v_part -> 'states' ->> state;
                return next;
            end loop;
        exception when syntax_error_or_access_rule_violation then
            raise exception using errcode = 'LH001',
                message = format('the mapping of %s does not fit %s: %s [SQLSTATE %s]', v_source.source, v_part ->> 'table', sqlerrm, sqlstate);
        end;
        return query
        select v_part ->> 'table', null::text, 'refused', count(*), count(*), min(r.complaint)
          from leasehold.read_source_rows(v_source, v_part, null, false) r where r.complaint is not null having count(*) > 0;
    end loop;
    return query
    select p.part ->> 'table', 'schedule', 'pending', count(*), count(r.complaint), min(r.complaint)
      from jsonb_array_elements(v_source.mapping -> 'schedules') p(part), leasehold.read_source_rows(v_source, p.part, null, false) r
     group by 1 having count(*) > 0;
    return query
    select m.source_table, null::text, m.outcome, count(*), 0::bigint, null::text from leasehold.moved_rows m where m.source = v_source.source group by 1, 3 order by 1, 3;
end
$$;
