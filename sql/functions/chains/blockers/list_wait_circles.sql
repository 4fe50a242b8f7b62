-- Purpose     Find chains that wait for each other in a circle, so that none of them ever goes on by itself. A chain
--             that only waits for one of them is left out; one that lies between two circles is included. It reads
--             every open edge; waits more than a thousand chains deep are not followed to their end.
-- Parameters  none
-- Returns     the chain, its blocked job, and the chain of the circle that this job waits for
-- Errors      none
-- Tables      jobs, job_blockers (read)
create or replace function leasehold.list_wait_circles()
returns table (chain_id bigint, job_id bigint, next_chain_id bigint) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_chains  bigint[];
    v_jobs    bigint[];
    v_targets bigint[];
    v_edges   integer;
begin
    select array_agg(coalesce(j.chain_id, j.id)), array_agg(j.id), array_agg(e.chain_id) into v_chains, v_jobs, v_targets
      from leasehold.jobs j join leasehold.job_blockers e on e.job_id = j.id and e.closed_at is null
     where j.state = 'blocked' and j.run_at > '-infinity';
    -- An edge whose chain nobody waits for, or that leads to a chain which waits for nobody, is in no circle.
    for round in 1 .. 1000 loop
        v_edges := cardinality(v_chains);
        select array_agg(e.chain), array_agg(e.job), array_agg(e.target) into v_chains, v_jobs, v_targets
          from unnest(v_chains, v_jobs, v_targets) e(chain, job, target)
         where e.target in (select unnest(v_chains)) and e.chain in (select unnest(v_targets));
        if v_edges is not distinct from cardinality(v_chains) then
            return query
            select e.chain, e.job, min(e.target) from unnest(v_chains, v_jobs, v_targets) e(chain, job, target) group by e.chain, e.job order by e.chain;
            return;
        end if;
    end loop;
end
$$;
