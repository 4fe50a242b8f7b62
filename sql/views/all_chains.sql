-- Chains as their last jobs tell of them. For looking around; get_chains and list_chains ask the indexes instead.
create or replace view leasehold.all_chains as
select t.chain_id, t.state, f.kind, f.queue, t.job_id, t.job_kind, t.job_state, t.jobs, t.output, t.error, f.created_at, t.finished_at,
       (select count(*)::integer from leasehold.job_blockers b
         where t.state = 'open' and b.job_id = t.job_id and b.closed_at is null) as open_blockers
  from (select coalesce(chain_id, id) as chain_id, 'open'::text collate "C" as state, id as job_id, kind as job_kind, state as job_state,
               coalesce(chain_position, 0) + 1 as jobs, null::jsonb as output, error, null::timestamptz as finished_at
          from leasehold.jobs
        union all
        select coalesce(chain_id, id), state, id, kind, state, coalesce(chain_position, 0) + 1, output, error, finished_at
          from leasehold.finished_jobs where succeeded_by is null) t
  left join lateral (select j.kind, j.queue, j.created_at from leasehold.jobs j where j.id = t.chain_id
                     union all
                     select d.kind, d.queue, d.created_at from leasehold.finished_jobs d where d.id = t.chain_id
                     limit 1) f on true;
