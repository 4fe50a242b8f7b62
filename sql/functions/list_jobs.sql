-- Purpose     A page of jobs, newest id first.
-- Parameters  state, queue, kind, key: only such · before_id: only older ones (the last id of the page before)
--             page_size: 1 to 1000
-- Returns     rows of all_jobs
-- Errors      LH001 page_size out of range, state unknown
-- Tables      jobs, finished_jobs (read)
-- Callers     clients, psql
create or replace function leasehold.list_jobs(
    state text default null, queue text default null, kind text default null, key text default null,
    before_id bigint default null, page_size integer default 50
) returns setof leasehold.all_jobs language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
    if coalesce(list_jobs.page_size, 0) not between 1 and 1000 then
        raise exception using errcode = 'LH001', message = format('page_size must be from 1 to 1000, not %s', coalesce(list_jobs.page_size::text, 'null'));
    end if;
    if list_jobs.state <> all ('{pending,scheduled,waiting,blocked,claimed,running,completed,failed,cancelled}') then
        raise exception using errcode = 'LH001', message = format('there is no state %L', list_jobs.state),
            hint = 'states: pending, scheduled, waiting, blocked, claimed, running, completed, failed, cancelled';
    end if;
    return query
    select a.* from leasehold.all_jobs a
     where (list_jobs.state is null or a.state = list_jobs.state)
       and (list_jobs.queue is null or a.queue = list_jobs.queue)
       and (list_jobs.kind is null or a.kind = list_jobs.kind)
       and (list_jobs.key is null or a.key = list_jobs.key)
       and (list_jobs.before_id is null or a.id < list_jobs.before_id)
     order by a.id desc limit list_jobs.page_size;
end
$$;
