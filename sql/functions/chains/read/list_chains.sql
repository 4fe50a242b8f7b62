-- Purpose     List a page of chains, newest id first. Each index is walked in the order of the page, for any state.
-- Parameters  state: open, completed, failed, cancelled · kind, queue: of the first job, only such
--             before_id: only older ones (the last id of the page before) · page_size: 1 to 1000
-- Returns     rows as get_chains
-- Errors      LH001 page_size out of range, state unknown
-- Tables      jobs, finished_jobs, job_blockers (read)
create or replace function leasehold.list_chains(
    state text default null, kind text default null, queue text default null, before_id bigint default null,
    page_size integer default 50
) returns setof leasehold.all_chains language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off as $$
#variable_conflict use_column
declare
    v_before bigint := coalesce(list_chains.before_id, 9223372036854775807);
    v_state  text := list_chains.state;
    v_kind   text := list_chains.kind;
    v_queue  text := list_chains.queue;
begin
    if coalesce(list_chains.page_size, 0) not between 1 and 1000 then
        raise exception using errcode = 'LH001', message = format('page_size must be from 1 to 1000, not %s', coalesce(list_chains.page_size::text, 'null'));
    end if;
    if v_state not in ('open', 'completed', 'failed', 'cancelled') then
        raise exception using errcode = 'LH001', message = format('a chain is never %L', v_state),
            hint = 'states: open, completed, failed, cancelled';
    end if;
    return query
    select * from leasehold.get_chains(array(
        select p.id from (
            (select j.id from leasehold.jobs j
              where coalesce(v_state, 'open') = 'open' and j.chain_id is null and j.id < v_before
                and (v_kind is null or j.kind = v_kind) and (v_queue is null or j.queue = v_queue)
              order by j.id desc limit list_chains.page_size)
            union all
            (select j.chain_id from leasehold.jobs j
              where coalesce(v_state, 'open') = 'open' and j.chain_id < v_before
                and (v_kind is null and v_queue is null or exists (
                     select from leasehold.all_jobs f where f.id = j.chain_id and (v_kind is null or f.kind = v_kind) and (v_queue is null or f.queue = v_queue)))
              order by j.chain_id desc limit list_chains.page_size)
            union all
            (select d.id from leasehold.finished_jobs d
              where d.state = coalesce(v_state, d.state) and d.chain_id is null and d.succeeded_by is null and d.id < v_before
                and (v_kind is null or d.kind = v_kind) and (v_queue is null or d.queue = v_queue)
              order by d.id desc limit list_chains.page_size)
            union all
            (select d.chain_id from leasehold.finished_jobs d
              where d.state = coalesce(v_state, d.state) and d.chain_id < v_before and d.succeeded_by is null
                and (v_kind is null and v_queue is null or exists (
                     select from leasehold.all_jobs f where f.id = d.chain_id and (v_kind is null or f.kind = v_kind) and (v_queue is null or f.queue = v_queue)))
              order by d.chain_id desc limit list_chains.page_size)) p
         order by p.id desc limit list_chains.page_size));
end
$$;
