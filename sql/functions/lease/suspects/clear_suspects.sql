-- Purpose     Believe a worker that hands back attempts which were taken from it meanwhile: it had no way to the database and
--             has ended them in good order, so they are no crashes. Their jobs are suspects no more unless another
--             process died under them, and attempts that were charged are spared after all.
-- Parameters  incarnation: of the worker · job_ids, attempts: the identities
-- Returns     how many jobs it changed
-- Errors      none
-- Tables      workers (own row; does nothing where somebody else has it), jobs (rows locked in the order of their ids, locked ones
--             left for another call)
create or replace function leasehold.clear_suspects(incarnation uuid, job_ids bigint[], attempts integer[]) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_worker  leasehold.workers;
    v_changed bigint[];
begin
    select w.* into v_worker from leasehold.workers w where w.incarnation = clear_suspects.incarnation for no key update skip locked;
    if v_worker.losses is null and v_worker.excused is null then
        return 0;
    end if;
    with ended as materialized (
        select l.job_id, l.is_charged, l.is_counted
          from (select c.job_id, c.attempt, c.is_charged, true as is_counted from unnest(v_worker.losses) c
                 union all select c.job_id, c.attempt, c.is_charged, false from unnest(v_worker.excused) c) l
          join unnest(clear_suspects.job_ids, clear_suspects.attempts) r(id, attempt) on r.id = l.job_id and r.attempt = l.attempt
    ), chosen as materialized (
        select j.id, e.is_charged, e.is_counted
          from (select * from ended e order by e.job_id) e join leasehold.jobs j on j.id = e.job_id
         where j.crashes is not null
           for no key update of j skip locked
    ), cleared as (
        update leasehold.jobs j
           set crashes = nullif(j.crashes - c.is_counted::integer, 0), spared_attempts = j.spared_attempts + c.is_charged::integer
          from chosen c where j.id = c.id
        returning j.id
    )
    select array_agg(c.id) into v_changed from cleared c;
    update leasehold.workers w
       set losses = nullif(array(select l from unnest(w.losses) l where l.job_id <> all (v_changed)), '{}'),
           excused = nullif(array(select l from unnest(w.excused) l where l.job_id <> all (v_changed)), '{}')
     where w.incarnation = clear_suspects.incarnation and v_changed is not null;
    return coalesce(cardinality(v_changed), 0);
end
$$;
