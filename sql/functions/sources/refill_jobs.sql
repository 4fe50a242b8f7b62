-- Purpose     Make the jobs that a source's mapping says should be there after the move: one for each row of a table, such as one for
--             each shop, and single ones. A key, or a kind without keys, that has an unfinished job of the kind gets none. Rows whose
--             job would be refused get none either, and hold nobody up.
-- Parameters  source: its name; null: the only one there is · filters: only rows for which the mapping's filter of each name gives
--             this value, such as {"state_code": "AZ"}; null: all · only_rows: make no single jobs · notify: as enqueue_jobs
--             dry_run: only tell
-- Returns     for each kind how many jobs were made, or would be; how many rows were refused, and why the first of them was, by its key
-- Errors      LH001 the mapping does not fit, or a filter is unknown · LH002 there is no such source
-- Tables      an advisory lock of the name, those of the source (read), kinds (read), as enqueue_jobs
create or replace function leasehold.refill_jobs(
    source text default null, filters jsonb default null, only_rows boolean default false, notify boolean default true, dry_run boolean default false
) returns table (kind text, made bigint, refused bigint, complaint text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' as $$
#variable_conflict use_column
declare
    v_source leasehold.sources := leasehold.find_source(refill_jobs.source, not refill_jobs.dry_run);
    v_part   jsonb;
    v_where  text;
    v_docs   jsonb;
    v_fit    jsonb;
begin
    perform set_config('search_path', concat_ws(', ', 'pg_catalog', v_source.mapping ->> 'search_path', 'pg_temp'), true);
    for v_part in select p from jsonb_array_elements(v_source.mapping -> 'refill') p loop
        continue when refill_jobs.only_rows and not v_part ? 'table';
        select min(f) into v_where from jsonb_object_keys(coalesce(refill_jobs.filters, '{}')) f where not coalesce(v_part -> 'filters', '{}') ? f and v_part ? 'table';
        if v_where is not null then
            raise exception using errcode = 'LH001', message = format('unknown filter %L of %s; known are %s', v_where, v_source.source,
                coalesce((select string_agg(f, ', ') from jsonb_object_keys(v_part -> 'filters') f), 'none'));
        end if;
        select string_agg(format('(%s)::text = %L', v_part -> 'filters' ->> f.key, f.value), ' and ') into v_where
          from jsonb_each_text(coalesce(refill_jobs.filters, '{}')) f where v_part ? 'table';
        begin
            execute format('select jsonb_agg(jsonb_build_object(%s)) from %s s where (%s) and (%s)',
                           (select string_agg(format('%L, (%s)', c.key, c.value #>> '{}'), ', ') from jsonb_each(v_part -> 'columns') c),
                           coalesce(v_part ->> 'table', '(select)'), coalesce(v_part ->> 'where', 'true'), coalesce(v_where, 'true')) into v_docs;
            -- Each as the job that it becomes, beside what is wrong with it.
            select jsonb_agg(jsonb_build_object('doc', d.doc, 'complaint', leasehold.refuse_row(d.doc)))
              into v_docs
              from jsonb_array_elements(v_docs) r(raw),
                   lateral (select jsonb_object_agg(e.key, coalesce(
                                case when e.key in ('kind', 'queue') then v_source.mapping -> (e.key || 's') -> (e.value #>> '{}') end, e.value))
                              from jsonb_each(r.raw) e where e.value <> 'null') d(doc)
             where not exists (select from leasehold.jobs j where j.kind = d.doc ->> 'kind' and j.key is not distinct from d.doc ->> 'key');
        exception when syntax_error_or_access_rule_violation or data_exception then
            raise exception using errcode = 'LH001',
                message = format('the mapping of %s does not fit %s: %s [SQLSTATE %s]', v_source.source,
                                 coalesce(v_part ->> 'table', 'a refill without a table'), sqlerrm, sqlstate);
        end;
        return query
        select d.each #>> '{doc,kind}', count(*) filter (where d.each ->> 'complaint' is null), count(d.each ->> 'complaint'),
               (array_agg(concat('key ' || quote_literal(d.each #>> '{doc,key}') || ': ', d.each ->> 'complaint') order by d.place)
                   filter (where d.each ->> 'complaint' is not null))[1]
          from jsonb_array_elements(v_docs) with ordinality d(each, place) group by 1;
        select jsonb_agg(d.each -> 'doc' order by d.place) into v_fit
          from jsonb_array_elements(v_docs) with ordinality d(each, place) where d.each ->> 'complaint' is null;
        perform leasehold.enqueue_jobs(v_fit, refill_jobs.notify) where v_fit is not null and not refill_jobs.dry_run;
    end loop;
end
$$;
