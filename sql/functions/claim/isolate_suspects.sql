-- Purpose     Keep jobs under which a process has died before (suspects) apart, so that the next crash tells which of
--             them is to blame: a worker holds one of them at most. Jobs that the claim has demoted behind a suspect
--             which it now leaves are promoted again, so that they do not wait for it in another lane, where nobody
--             would find them.
-- Parameters  incarnation: of the worker that is about to claim · places: what it would claim, locked by the caller
-- Returns     those of the places that it has to leave, and where there are any, all others that it would have to leave, so
--             that the claim need not come upon them one by one
-- Errors      none
-- Tables      jobs (read), as promote_waiting_jobs
create or replace function leasehold.isolate_suspects(incarnation uuid, places tid[]) returns tid[] language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_left tid[] := array(
        select j.ctid from leasehold.jobs j
         where j.ctid = any (isolate_suspects.places) and j.crashes > 0
         order by j.priority desc, j.run_at, j.id
        offset case when exists (select from leasehold.jobs h where h.incarnation = isolate_suspects.incarnation and h.crashes > 0) then 0 else 1 end);
begin
    if v_left = '{}' then
        return v_left;
    end if;
    perform leasehold.promote_waiting_jobs(array(
        select j.key from leasehold.jobs j where j.ctid = any (isolate_suspects.places) and j.ctid = any (v_left) and j.key is not null));
    return v_left || array(select j.ctid from leasehold.jobs j
                            where j.crashes > 0 and j.incarnation is null and j.state = 'pending'
                              and j.ctid not in (select unnest(isolate_suspects.places)));
end
$$;
