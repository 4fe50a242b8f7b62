-- Purpose     Read rows of a source as what they become here: the common part of looking and moving.
-- Parameters  source: the row of it · part: the entry of its mapping for one table · batch: how many at the most; null: all
--             lock: lock the rows, pass over those that others hold, and leave out those that are refused or have the key of a
--             job that still runs there
-- Returns     each pending job, or each schedule, that has not moved: where it lies, its id, the job or the definition, whether it is
--             live, and why it cannot move, or null
-- Errors      LH001 the mapping does not fit the table: the message says why
-- Tables      those of the source, moved_rows, kinds (read)
create or replace function leasehold.read_source_rows(source leasehold.sources, part jsonb, batch integer, lock boolean)
returns table (place tid, row_id text, doc jsonb, live boolean, complaint text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' as $$
#variable_conflict use_column
declare
    c_is_job  constant boolean := read_source_rows.part ? 'states';
    v_mapping jsonb := read_source_rows.source.mapping;
    v_table   text := read_source_rows.part ->> 'table';
    v_key     text := read_source_rows.part #>> '{columns,key}';
    v_fields  text := (select string_agg(format('%L, (%s)', c.key, c.value #>> '{}'), ', ') from jsonb_each(read_source_rows.part -> 'columns') c);
    v_states  text[] := array(select s.key from jsonb_each_text(read_source_rows.part -> 'states') s where s.value = 'pending');
    v_busy    text[] := array(select s.key from jsonb_each_text(read_source_rows.part -> 'states') s where s.value = 'running');
    v_held    text[] := '{}';
    v_names   jsonb;
    v_count   integer := 0;
    v_query   text;
begin
    begin
        if c_is_job and v_key is not null and read_source_rows.lock then
            execute format('select coalesce(array_agg(distinct (%s)::text), ''{}'') from %s s where (s.%I)::text = any ($1) and (%1$s) is not null',
                           v_key, v_table, read_source_rows.part ->> 'state') into v_held using v_busy;
        end if;
        v_query := format('select s.ctid, (s.%I)::text, jsonb_build_object(%s), (%s)::boolean, (%s)::text from %s s where %s and not exists '
                          '(select from leasehold.moved_rows m where m.source = $1 and m.source_table = $2 and m.row_id = (s.%1$I)::text and m.outcome <> ''disabled'')',
                          read_source_rows.part ->> 'id', v_fields, coalesce(read_source_rows.part ->> 'live', 'true'),
                          coalesce(read_source_rows.part ->> 'refuse', 'null'), v_table,
                          case when c_is_job then format('(s.%I)::text = any ($3)', read_source_rows.part ->> 'state') else '$3 is not null' end)
                   || case when v_held <> '{}' then format(' and ((%s) is null or (%1$s)::text <> all ($4))', v_key) else ' and $4 is not null' end
                   || format(' order by s.%I', read_source_rows.part ->> 'id')
                   || case when read_source_rows.lock then ' for update of s skip locked' else '' end;
        for place, row_id, doc, live, complaint in execute v_query using read_source_rows.source.source, v_table, v_states, v_held loop
            doc := (select coalesce(jsonb_object_agg(d.key, d.value), '{}') from jsonb_each(doc) d where d.value <> 'null');
            v_names := v_mapping -> 'positional' -> (doc ->> 'kind');
            if complaint is null and jsonb_array_length(doc -> 'positional') > coalesce(jsonb_array_length(v_names), 0) then
                complaint := format('%s has %s args without names, and `positional` names %s of them', doc ->> 'kind',
                                    jsonb_array_length(doc -> 'positional'), coalesce(jsonb_array_length(v_names), 0));
            elsif jsonb_array_length(doc -> 'positional') > 0 then
                doc := doc || jsonb_build_object('args', coalesce(doc -> 'args', '{}') || (
                    select jsonb_object_agg(v_names ->> (p.place - 1)::integer, p.value) from jsonb_array_elements(doc -> 'positional') with ordinality p(value, place)));
            end if;
            doc := doc - 'positional' || jsonb_build_object(
                'kind', coalesce(v_mapping -> 'kinds' -> (doc ->> 'kind'), doc -> 'kind'),
                'queue', coalesce(v_mapping -> 'queues' -> (doc ->> 'queue'), doc -> 'queue', '"default"'),
                'metadata', coalesce(doc -> 'metadata', '{}')
                    || jsonb_build_object('moved_from', jsonb_build_object('source', read_source_rows.source.source, 'table', v_table, 'id', row_id)));
            if complaint is null and c_is_job then
                complaint := leasehold.refuse_row(doc);
            end if;
            if complaint is null or not read_source_rows.lock then
                return next;
                v_count := v_count + 1;
                exit when v_count = read_source_rows.batch;
            end if;
        end loop;
    exception when others then
        if sqlstate ~ '^(22|42)' then
            raise exception using errcode = 'LH001',
                message = format('the mapping of %s does not fit %s: %s [SQLSTATE %s]', read_source_rows.source.source, v_table, sqlerrm, sqlstate);
        end if;
        raise;
    end;
end
$$;
