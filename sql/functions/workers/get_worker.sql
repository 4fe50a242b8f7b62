-- Purpose     Show one worker, alive or not.
-- Parameters  worker: as find_worker
-- Returns     a row of all_workers
-- Errors      as find_worker
-- Tables      workers, jobs (read)
create or replace function leasehold.get_worker(worker text) returns setof leasehold.all_workers language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
declare
    v_incarnation uuid := leasehold.find_worker(get_worker.worker);
begin
    return query select * from leasehold.all_workers w where w.incarnation = v_incarnation;
end
$$;
