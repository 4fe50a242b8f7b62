-- Purpose     Complete jobs and make further jobs of them. The caller holds their row locks and has checked that it
--             may.
-- Parameters  job_ids: which, ascending, each once · continuations, outputs: as continue_jobs · ran_for: as continue_jobs, or
--             null
-- Returns     for each job the ids of its new jobs, the next one last
-- Errors      LH001 a continuation is refused · LH006 a unique job is there already
-- Tables      as finish_jobs, add_jobs, close_chains, then keys as promote_waiting_jobs, as start_epoch
create or replace function leasehold.apply_continuations(
    job_ids bigint[], continuations jsonb[], outputs jsonb[], ran_for double precision[]
) returns table (job_id bigint, new_ids bigint[]) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_complaint  text;
    v_docs       jsonb[];
    v_owners     bigint[];
    v_bases      integer[];
    v_next       boolean[];
    v_ids        bigint[];
    v_successors bigint[];
    v_jobs       jsonb;
    v_chains     bigint[];
    v_positions  integer[];
    v_ended      bigint[];
    v_keys       text[];
begin
    select 'job ' || c.id || ': ' || c.complaint into v_complaint
      from (select e.id, case
                       when jsonb_typeof(e.continuation) <> 'object' then 'a continuation must be a JSON object, not ' || jsonb_typeof(e.continuation)
                       when e.continuation - '{next,jobs}'::text[] <> '{}' then 'a continuation has next and jobs, not '
                            || (select min(f) from jsonb_object_keys(e.continuation) f where f not in ('next', 'jobs'))
                       when jsonb_typeof(e.continuation -> 'jobs') not in ('array', 'null')
                            then 'jobs must be an array, not ' || jsonb_typeof(e.continuation -> 'jobs')
                       when jsonb_typeof(e.continuation -> 'next') not in ('object', 'null')
                            then 'next must be a job, not ' || jsonb_typeof(e.continuation -> 'next')
                       when jsonb_typeof(e.continuation #> '{next,idempotency_key}') <> 'null' or jsonb_typeof(e.continuation #> '{next,unique}') <> 'null'
                            then 'next continues the chain and takes neither idempotency_key nor unique' end as complaint
              from unnest(apply_continuations.job_ids, apply_continuations.continuations) e(id, continuation)
             where e.continuation <> 'null') c
     where c.complaint is not null
     order by c.id limit 1;
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint, hint = 'nothing was written';
    end if;

    -- All jobs of all continuations as one list; a base is the place in it behind which the jobs of one continuation begin.
    select array_agg(l.doc order by l.place), array_agg(l.id order by l.place), array_agg((l.place - l.position)::integer order by l.place),
           array_agg(l.position > l.others order by l.place)
      into v_docs, v_owners, v_bases, v_next
      from (select c.id, c.others, d.doc, d.position, row_number() over (order by c.place, d.position) as place
              from (select e.id, e.continuation, e.place,
                           case jsonb_typeof(e.continuation -> 'jobs') when 'array' then jsonb_array_length(e.continuation -> 'jobs') else 0 end as others
                      from unnest(apply_continuations.job_ids, apply_continuations.continuations) with ordinality e(id, continuation, place) offset 0) c
             cross join lateral jsonb_array_elements(
                   case jsonb_typeof(c.continuation -> 'jobs') when 'array' then c.continuation -> 'jobs' else '[]' end
                   || case jsonb_typeof(c.continuation -> 'next') when 'object' then jsonb_build_array(c.continuation -> 'next') else '[]' end)
                   with ordinality d(doc, position)) l;
    if leasehold.is_epoch_over(null) then
        perform leasehold.start_epoch(pg_sequence_last_value('leasehold.epochs_id_seq'));
    end if;
    v_ids := array(select nextval('leasehold.jobs_id_seq') from generate_series(1, cardinality(v_docs)));
    v_successors := array(select n.id
                            from unnest(apply_continuations.job_ids) with ordinality o(id, place)
                            left join (select * from unnest(v_owners, v_ids, v_next) s(owner, id, is_next) where s.is_next) n on n.owner = o.id
                           order by o.place);

    with ended as materialized (
        select f.id, coalesce(f.chain_id, f.id) as chain_id, coalesce(f.chain_position, 0) + 1 as next_position, f.priority, f.key
          from leasehold.finish_jobs(
                   apply_continuations.job_ids, 'completed', null,
                   array(select case when o.succeeded_by is null then o.output end
                           from unnest(apply_continuations.job_ids, apply_continuations.outputs, v_successors) with ordinality o(id, output, succeeded_by, place)
                          order by o.place),
                   v_successors, apply_continuations.ran_for, leasehold.clock()) f
    ), made as (
        select jsonb_agg(case when n.is_next and coalesce(n.doc -> 'priority', 'null') = 'null'
                              then n.doc || jsonb_build_object('priority', e.priority) else n.doc end order by n.place) as jobs,
               array_agg(case when n.is_next then e.chain_id else 0 end order by n.place) as chains,
               array_agg(case when n.is_next then e.next_position else 0 end order by n.place) as positions
          from unnest(v_docs, v_owners, v_next) with ordinality n(doc, owner, is_next, place)
          join ended e on e.id = n.owner
    )
    select m.jobs, m.chains, m.positions,
           (select array_agg(e.chain_id) from ended e where e.id not in (select s.owner from unnest(v_owners, v_next) s(owner, is_next) where s.is_next)),
           (select array_agg(e.key) from ended e where e.key is not null)
      into v_jobs, v_chains, v_positions, v_ended, v_keys
      from made m;
    if v_jobs is not null then
        v_ids := array(select a.job_id from leasehold.add_jobs(v_jobs, v_ids, v_chains, v_positions, v_bases, true) with ordinality a(job_id, is_new, outcome, place)
                        order by a.place);
    end if;
    if v_ended is not null then
        v_keys := v_keys || leasehold.close_chains(v_ended, true);
    end if;
    if v_keys <> '{}' then
        perform leasehold.promote_waiting_jobs(v_keys);
    end if;
    return query
    select o.id, coalesce(n.ids, '{}')
      from unnest(apply_continuations.job_ids) with ordinality o(id, place)
      left join (select m.owner, array_agg(m.id order by m.place) as ids from unnest(v_owners, v_ids) with ordinality m(owner, id, place)
                  group by m.owner) n on n.owner = o.id
     order by o.place;
end
$$;
