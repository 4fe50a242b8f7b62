-- Purpose     Move pending jobs of a source here, one batch in one transaction: a row is ended there in the transaction that makes its
--             job. So it runs in one of the two, whoever dies. Call it until it moves nothing more; calling it again does no harm.
-- Parameters  source: its name; null: the only one there is · batch: how many of each table at the most, 1 to 10000
--             discard: end all there and make no job; null: as the mapping says for each table
-- Returns     for each table how many rows became jobs, and how many were cancelled
-- Errors      LH001 the mapping does not fit, or batch is out of range · LH002 there is no such source
--             LH004 the source is not sealed, and its own workers could claim what moves
-- Tables      an advisory lock of the name, those of the source, as enqueue_jobs, moved_rows (insert)
create or replace function leasehold.move_jobs(source text default null, batch integer default 1000, discard boolean default null)
returns table (source_table text, moved bigint, cancelled bigint) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_source    leasehold.sources := leasehold.find_source(move_jobs.source, true);
    v_part      jsonb;
    v_places    tid[];
    v_ids       text[];
    v_docs      jsonb;
    v_jobs      bigint[];
    v_ends      boolean;
    v_statement text;
    v_some      boolean := false;
begin
    perform set_config('search_path', concat_ws(', ', 'pg_catalog', v_source.mapping ->> 'search_path', 'pg_temp'), true);
    if coalesce(move_jobs.batch, 0) not between 1 and 10000 then
        raise exception using errcode = 'LH001', message = format('batch must be from 1 to 10000, not %s', coalesce(move_jobs.batch::text, 'null'));
    elsif v_source.sealed_at is null then
        raise exception using errcode = 'LH004', message = format('source %L is not sealed: its own workers could claim what moves', v_source.source), hint = 'seal it first';
    end if;
    for v_part in select p from jsonb_array_elements(v_source.mapping -> 'jobs') p loop
        v_ends := coalesce(move_jobs.discard, v_part ->> 'action' = 'cancel', false);
        select array_agg(r.place order by r.number), array_agg(r.row_id order by r.number), jsonb_agg(r.doc order by r.number)
          into v_places, v_ids, v_docs
          from leasehold.read_source_rows(v_source, v_part, move_jobs.batch, true) with ordinality r(place, row_id, doc, live, complaint, number);
        source_table := v_part ->> 'table';
        moved := case when v_ends then 0 else coalesce(cardinality(v_ids), 0) end;
        cancelled := coalesce(cardinality(v_ids), 0) - moved;
        return next;
        continue when v_ids is null;
        v_some := true;
        v_jobs := null;
        if not v_ends then
            v_jobs := array(select a.job_id from leasehold.enqueue_jobs(v_docs) with ordinality a(job_id, is_new, outcome, place) order by a.place);
        end if;
        insert into leasehold.moved_rows (source, source_table, row_id, outcome, job_id, moved_at)
        select v_source.source, v_part ->> 'table', i.row_id, case when v_ends then 'cancelled' else 'moved' end, i.job_id, leasehold.clock()
          from unnest(v_ids, v_jobs) i(row_id, job_id);
        execute case when v_part ? 'moved' then format('update %s s set %s where s.ctid = any ($1)', v_part ->> 'table', v_part ->> 'moved')
                     else format('delete from %s s where s.ctid = any ($1)', v_part ->> 'table') end using v_places;
    end loop;
    if v_some then
        for v_statement in select a from jsonb_array_elements_text(v_source.mapping -> 'afterwards') a loop
            execute v_statement;
        end loop;
    end if;
end
$$;
