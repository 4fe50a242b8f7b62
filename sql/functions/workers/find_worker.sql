-- Purpose     Find a worker by its id, its friendly name or its incarnation, or the beginning of one of them. A whole
--             name goes before a beginning, then the living before the dead.
-- Parameters  worker: id, name, incarnation, or a beginning that only one has
-- Returns     the incarnation; of several dead ones the last
-- Errors      LH001 no name, or several living workers are meant · LH002 there is no such worker
-- Tables      workers, jobs (read)
create or replace function leasehold.find_worker(worker text) returns uuid language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_ids   uuid[];
    v_names text;
    v_alive boolean;
begin
    if coalesce(find_worker.worker, '') = '' then
        raise exception using errcode = 'LH001', message = 'a worker must be named: its id, its name, its incarnation, or the beginning of one';
    end if;
    select array_agg(f.incarnation order by f.heartbeat_at desc), f.is_alive,
           string_agg(format('%s %s (%s)', f.worker_id, f.name, f.incarnation), ', ' order by f.worker_id, f.heartbeat_at desc)
      into v_ids, v_alive, v_names
      from (select w.incarnation, w.worker_id, w.name, w.heartbeat_at,
                   leasehold.is_alive(w, leasehold.clock()) as is_alive,
                   coalesce(find_worker.worker in (w.worker_id, w.name, w.incarnation::text), false) as is_whole
              from leasehold.workers w
             where starts_with(w.worker_id, find_worker.worker) or starts_with(w.name, find_worker.worker)
                or starts_with(w.incarnation::text, find_worker.worker)) f
     group by f.is_whole, f.is_alive order by f.is_whole desc, f.is_alive desc limit 1;
    if not found then
        raise exception using errcode = 'LH002', message = format('there is no worker %s', find_worker.worker),
            table = 'workers', hint = 'leasehold.list_workers() shows those that there are';
    end if;
    if v_alive and cardinality(v_ids) > 1 then
        raise exception using errcode = 'LH001', message = format('%s may be any of %s workers: %s', find_worker.worker, cardinality(v_ids), left(v_names, 500)),
            hint = 'give more of the name, or the incarnation';
    end if;
    return v_ids[1];
end
$$;
