-- Purpose     Write down which chains new jobs wait for. A chain that is over gives its output at once and blocks
--             nobody. A chain that completes while this transaction is open does not see the new edge;
--             unblock_stranded_jobs finds such jobs later. So a producer's transaction never holds up a completion.
-- Parameters  jobs, bases, chain_ids: as add_jobs · ids, is_new: of the jobs; those that are not new are left as they are
--             slots_before: how many slots they have already
-- Returns     ids of the jobs that have to wait, null where none has
-- Errors      LH001 blockers are no array of ids and positions, or name what is no chain, or the job's own
-- Tables      jobs, finished_jobs (read), job_blockers (insert)
create or replace function leasehold.add_blockers(
    jobs jsonb, ids bigint[], is_new boolean[], bases integer[], slots_before integer default 0, chain_ids bigint[] default null
) returns bigint[] language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_complaint text;
    v_positions integer[];
    v_slots     integer[];
    v_chains    bigint[];
    v_named     boolean[];
    v_until     boolean[];
    v_past      bigint[];
    v_unknown   bigint[];
    v_ended     bigint[];
    v_outputs   jsonb[];
    v_states    text[];
    v_ends      timestamptz[];
    v_blocked   bigint[];
begin
    select leasehold.name_job(add_blockers.jobs, w.position) || case
               when jsonb_typeof(w.doc -> 'blockers') <> 'array' then 'blockers must be an array, not ' || jsonb_typeof(w.doc -> 'blockers')
               when jsonb_array_length(w.doc -> 'blockers') > 100000 then 'blockers are ' || jsonb_array_length(w.doc -> 'blockers') || '; 100000 is the most'
               else 'a blocker must be the id of a job, {"position": n} of an earlier one, or {"chain": id}, not '
                    || (select left(b.item::text, 100) from jsonb_array_elements(w.doc -> 'blockers') with ordinality b(item, slot)
                         where not leasehold.is_blocker(b.item, w.position - coalesce(add_blockers.bases[w.position], 0)) order by b.slot limit 1) end
      into v_complaint
      from jsonb_array_elements(add_blockers.jobs) with ordinality w(doc, position)
     where case jsonb_typeof(w.doc -> 'blockers')
               when 'array' then jsonb_array_length(w.doc -> 'blockers') > 100000
                    or exists (select from jsonb_array_elements(w.doc -> 'blockers') b(item)
                                where not leasehold.is_blocker(b.item, w.position - coalesce(add_blockers.bases[w.position], 0)))
               else coalesce(jsonb_typeof(w.doc -> 'blockers'), 'null') <> 'null' end
     order by w.position limit 1;
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint, hint = 'nothing was enqueued';
    end if;

    select array_agg(e.position), array_agg(e.slot), array_agg(e.chain_id), array_agg(e.is_named), array_agg(e.until_ended),
           min(e.position) filter (where e.chain_id = coalesce(nullif(add_blockers.chain_ids[e.position], 0), add_blockers.ids[e.position]))
      into v_positions, v_slots, v_chains, v_named, v_until, v_complaint
      from (select w.position::integer, add_blockers.slots_before + b.slot::integer as slot, not coalesce(b.item ? 'position', false) as is_named,
                   nullif(b.item ->> 'until' = 'ended', false) as until_ended,
                   case when jsonb_typeof(b.item) = 'number' then (b.item #>> '{}')::numeric::bigint
                        when b.item ? 'chain' then (b.item ->> 'chain')::numeric::bigint
                        else add_blockers.ids[coalesce(add_blockers.bases[w.position], 0) + (b.item ->> 'position')::numeric::integer] end as chain_id
              from jsonb_array_elements(add_blockers.jobs) with ordinality w(doc, position)
             cross join lateral jsonb_array_elements(nullif(w.doc -> 'blockers', 'null')) with ordinality b(item, slot)
             where add_blockers.is_new[w.position]
             order by w.position, b.slot) e;
    if v_positions is null then
        return null;
    elsif v_complaint is not null then
        raise exception using errcode = 'LH001',
            message = leasehold.name_job(add_blockers.jobs, v_complaint::bigint) || 'it would wait for its own chain', hint = 'nothing was enqueued';
    end if;

    -- Chains that were there before this call and whose first job has ended: what they are is read from their last job.
    v_past := array(select k.id
                      from (select n.id from unnest(v_chains, v_named) n(id, is_named) where n.is_named
                            union
                            (select p.id from unnest(v_chains, v_named) p(id, is_named) where not p.is_named
                             except select f.id from unnest(add_blockers.ids, add_blockers.is_new) f(id, is_new) where f.is_new)) k(id)
                     where (select j.id from leasehold.jobs j where j.id = k.id and j.chain_id is null) is null);
    if v_past <> '{}' then
        select array_agg(p.id) filter (where t.job_id is null), array_agg(p.id) filter (where not t.is_open), array_agg(t.output) filter (where not t.is_open),
               array_agg(t.finished_at) filter (where not t.is_open), array_agg(t.state) filter (where not t.is_open)
          into v_unknown, v_ended, v_outputs, v_ends, v_states
          from unnest(v_past) p(id)
          left join lateral leasehold.chain_tail(p.id) t on true;
        if v_unknown is not null then
            select leasehold.name_job(add_blockers.jobs, e.position)
                   || case when f.id is null then format('blocker %s is no job', u.id)
                           else format('blocker %s is not the first job of its chain; give the chain, %s', u.id, f.chain_id) end
              into v_complaint
              from unnest(v_unknown) u(id)
              left join lateral (select j.id, j.chain_id from leasehold.jobs j where j.id = u.id
                                 union all
                                 select d.id, d.chain_id from leasehold.finished_jobs d where d.id = u.id limit 1) f on true
              join unnest(v_positions, v_chains) with ordinality e(position, chain_id, place) on e.chain_id = u.id
             where f.id is null or f.chain_id is not null
             order by e.place limit 1;
            if v_complaint is not null then
                raise exception using errcode = 'LH001', message = v_complaint, hint = 'nothing was enqueued';
            end if;
        end if;
    end if;

    with written as (
        insert into leasehold.job_blockers (job_id, slot, chain_id, until_ended, closed_at, output, end_state)
        select add_blockers.ids[b.position], b.slot, b.chain_id, b.until_ended, e.finished_at, e.output, nullif(e.state, 'completed')
          from unnest(v_positions, v_slots, v_chains, v_until) b(position, slot, chain_id, until_ended)
          left join unnest(v_ended, v_outputs, v_ends, v_states) e(chain_id, output, finished_at, state)
                 on e.chain_id = b.chain_id and (e.state = 'completed' or b.until_ended)
        returning job_id, closed_at
    )
    select array_agg(distinct w.job_id) into v_blocked from written w where w.closed_at is null;
    return v_blocked;
end
$$;
