-- Purpose     Find the last job of a chain: the open one, or the one that ended it. It alone tells how the chain
--             stands. A finished one is looked for as in get_job.
-- Parameters  chain_id: id of the first job
-- Returns     one row with job_id, state (of that job), is_open, output and error, finished_at, kind, queue, created_at and
--             chain_position of that job; none for what is no chain
-- Errors      none
-- Tables      jobs, id_marks, finished_jobs (read)
create or replace function leasehold.chain_tail(chain_id bigint)
returns table (job_id bigint, state text, is_open boolean, output jsonb, error jsonb, finished_at timestamptz,
               kind text, queue text, created_at timestamptz, chain_position integer) language plpgsql stable rows 1
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_last  timestamptz := leasehold.clock() - interval '1 day';
    v_since timestamptz;
    v_until timestamptz;
begin
    return query select j.id, j.state, true, null::jsonb, j.error, null::timestamptz, j.kind, j.queue, j.created_at, 0
                   from leasehold.jobs j where j.id = chain_tail.chain_id and j.chain_id is null;
    if found then
        return;
    end if;
    return query select j.id, j.state, true, null::jsonb, j.error, null::timestamptz, j.kind, j.queue, j.created_at, j.chain_position
                   from leasehold.jobs j where j.chain_id = chain_tail.chain_id;
    if found then
        return;
    end if;
    v_since := coalesce((select m.taken_at from leasehold.id_marks m where m.last_id < chain_tail.chain_id order by m.last_id desc limit 1), v_last);
    for v_since, v_until in values (v_since, v_since + interval '2 days'), (v_last, v_last + interval '2 days'), ('-infinity', 'infinity') loop
        return query
        select * from (select f.id, f.state, false, f.output, f.error, f.finished_at, f.kind, f.queue, f.created_at, 0
                         from leasehold.finished_jobs f
                        where f.id = chain_tail.chain_id and f.chain_id is null and f.succeeded_by is null
                          and f.finished_at >= v_since and f.finished_at < v_until
                       union all
                       select l.id, l.state, false, l.output, l.error, l.finished_at, l.kind, l.queue, l.created_at, l.chain_position
                         from (select * from leasehold.finished_jobs f
                                where f.chain_id = chain_tail.chain_id and f.finished_at >= v_since and f.finished_at < v_until
                                order by f.chain_position desc limit 1) l
                        where l.succeeded_by is null) d
         order by d.finished_at desc limit 1;
        exit when found;
    end loop;
end
$$;
