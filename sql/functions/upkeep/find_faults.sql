-- Purpose     Find inconsistent jobs, and jobs that are stuck. Reads all of jobs, of the edges and of the links in
--             finished_jobs, and locks nothing. Call it now and then, not every second.
-- Parameters  grace: how long a thing may be overdue before it is a fault
-- Returns     finding, subject, explanation as audit_jobs; job_id where it is about one
-- Errors      none
-- Tables      all (read)
create or replace function leasehold.find_faults(grace interval)
returns table (finding text, job_id bigint, subject text, explanation text) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off as $$
with now as materialized (select leasehold.clock() as at)
select 'held_by_nobody', j.id, 'job ' || j.id,
       format('the lease of attempt %s on worker %s ran out at %s and ', j.attempt, j.worker_id, date_trunc('second', j.lease_expires_at))
       || coalesce('it cannot be taken back: ' || leasehold.describe_row_holders(j.id), 'no reaper has taken it back')
  from leasehold.jobs j, now where j.state in ('claimed', 'running') and j.lease_expires_at < now.at - find_faults.grace
union all
select 'overdue', j.id, 'job ' || j.id, format('it was due at %s and nobody has made it claimable', date_trunc('second', j.run_at))
  from leasehold.jobs j, now where j.state = 'scheduled' and j.run_at < now.at - find_faults.grace
union all
select 'deadline_missed', j.id, 'job ' || j.id, format('its deadline was %s and no reaper has failed it', date_trunc('second', j.deadline))
  from leasehold.jobs j, now where j.deadline < now.at - find_faults.grace
union all
select 'unserved', null, 'kind ' || u.kind,
       format('%s of its jobs %s ready in queue %s, the first since %s, and no live worker has both the queue and the kind',
              case when u.jobs < 1000 then u.jobs::text else '1000 or more' end, case u.jobs when 1 then 'is' else 'are' end, u.queue, date_trunc('second', u.oldest_run_at))
  from leasehold.list_unclaimed_kinds(1000) u, now where u.reason = 'unserved' and u.oldest_run_at < now.at - find_faults.grace
union all
select 'waiting_for_nobody', w.id, 'job ' || w.id, format('it waits for key %L, which nobody holds and no other job is pending for', w.key)
  from (select distinct on (j.key, j.queue, j.kind) j.id, j.key, j.queue, j.kind from leasehold.jobs j where j.state = 'waiting'
         order by j.key, j.queue, j.kind, j.priority desc, j.run_at, j.id) w
 where not exists (select from leasehold.jobs h where h.key = w.key and h.incarnation is not null)
   and not exists (select from leasehold.jobs p where p.key = w.key and p.queue = w.queue and p.kind = w.kind and p.state = 'pending')
union all
select case when b.bad is null then 'blocked_by_nothing' else 'blocked_for_ever' end, b.id, 'job ' || b.id,
       case when b.bad is null then 'all chains that it waits for are over' else format('chain %s, for which it waits, %s', b.bad, b.why) end
  from (select j.id, s.bad, s.why, s.is_open
          from leasehold.jobs j
         cross join lateral (select bool_or(coalesce(t.is_open, false)) as is_open,
                                    min(e.chain_id) filter (where t.job_id is null or not t.is_open and t.state <> 'completed' and e.until_ended is not true) as bad,
                                    min(case t.state when 'failed' then 'has failed' when 'cancelled' then 'was cancelled' else 'is gone' end)
                                        filter (where t.job_id is null or not t.is_open and t.state <> 'completed' and e.until_ended is not true) as why
                               from leasehold.job_blockers e left join lateral leasehold.chain_tail(e.chain_id) t on true
                              where e.job_id = j.id and e.closed_at is null) s
         where j.state = 'blocked' and j.run_at > '-infinity') b
 where b.bad is not null or not coalesce(b.is_open, false)
union all
select 'waits_in_a_circle', c.job_id, 'job ' || c.job_id,
       format('its chain %s waits for chain %s, which waits for it in turn, maybe by way of others; none will go on until one is cancelled or completed from outside',
              c.chain_id, c.next_chain_id)
  from leasehold.list_wait_circles() c
union all
select 'unheeded_blocker', j.id, 'job ' || j.id, format('it is %s, although it waits for %s chain(s), chain %s among them', j.state, count(*), min(e.chain_id))
  from leasehold.job_blockers e join leasehold.jobs j on j.id = e.job_id
 where e.closed_at is null and j.state <> 'blocked'
 group by j.id
union all
select 'edge_of_nobody', e.job_id, 'job ' || e.job_id, format('%s edge(s) say that it waits, but there is no such job', count(*))
  from leasehold.job_blockers e
 where e.closed_at is null and not exists (select from leasehold.jobs j where j.id = e.job_id)
   and not exists (select from leasehold.finished_jobs f where f.id = e.job_id)
 group by e.job_id
union all
select 'succession_lost', f.id, 'job ' || f.id, format('job %s is said to continue its chain %s, and there is no such job', f.succeeded_by, coalesce(f.chain_id, f.id))
  from leasehold.finished_jobs f
 where f.succeeded_by is not null and not exists (select from leasehold.jobs j where j.id = f.succeeded_by)
   and not exists (select from leasehold.finished_jobs n where n.id = f.succeeded_by)
union all
select 'two_tails', l.id, 'job ' || l.id, format('it continues chain %s, whose first job is not finished either', l.chain_id)
  from leasehold.jobs l join leasehold.jobs r on r.id = l.chain_id where l.chain_id is not null
union all
select 'open_and_finished', j.id, 'job ' || j.id, format('it is %s, and finished_jobs has it as %s', j.state, f.state)
  from leasehold.jobs j join leasehold.finished_jobs f on f.id = j.id
union all
select 'attempts_absurd', j.id, 'job ' || j.id,
       format('it is %s after attempt %s, %s of them spared, and may have %s', j.state, j.attempt, j.spared_attempts, j.max_attempts)
  from leasehold.jobs j
 where (j.spared_attempts not between 0 and j.attempt or j.attempt - j.spared_attempts > j.max_attempts)
   and not exists (select from leasehold.job_events e where e.job_id = j.id and e.event = 'edited')
union all
select 'unmarked_limit', j.id, 'job ' || j.id, format('it is held in queue %L, which has a limit, and is not counted by it', j.queue)
  from leasehold.jobs j
 where j.incarnation is not null and j.limited is not true
   and exists (select from leasehold.limits l where l.queue = j.queue)
union all
select 'tick_overdue', null, 'schedule ' || s.name, format('its tick of %s has not fired; its last error: %s', date_trunc('second', s.next_run_at), coalesce(s.last_error, 'none'))
  from leasehold.schedules s, now where s.enabled and s.planned_revision = s.revision and s.next_run_at < now.at - find_faults.grace
union all
select 'schedule_unplanned', null, 'schedule ' || s.name, format('it was changed at %s and no scheduler has planned its next tick', date_trunc('second', s.updated_at))
  from leasehold.schedules s, now
 where s.enabled and s.planned_revision is distinct from s.revision and s.updated_at < now.at - find_faults.grace
union all
select 'partition_missing', null, d.name, format('table %s, the partition for %s, does not exist', d.name, d.day)
  from (select p.parent || '_' || to_char(p.day, 'YYYYMMDD') as name, p.day
          from (select parent, (now.at + make_interval(days => ahead))::date as day
                  from now, unnest('{finished_jobs,job_events,job_logs}'::text[]) parent, generate_series(0, 1) ahead) p
         where not exists (select from leasehold.list_partitions() l where l.parent = p.parent and l.since <= p.day and l.until > p.day)) d
 where to_regclass('leasehold.' || d.name) is null
union all
select 'partition_orphaned', null, c.relname::text, format('table %s has the name of a partition and belongs to none', c.relname)
  from pg_class c
 where c.relnamespace = 'leasehold'::regnamespace and c.relkind = 'r' and c.relname ~ '^(finished_jobs|job_events|job_logs)_[0-9]{8}$'
   and not exists (select from pg_inherits i where i.inhrelid = c.oid)
union all
select 'rows_in_default_partition', null, d.name, format('%s row(s) lie in %s, because the partition of their day was not there', d.rows, d.name)
  from (select 'finished_jobs_default' as name, (select count(*) from leasehold.finished_jobs_default f, now where f.finished_at >= now.at::date) as rows
        union all select 'job_events_default', (select count(*) from leasehold.job_events_default e, now where e.at >= now.at::date)
        union all select 'job_logs_default', (select count(*) from leasehold.job_logs_default l, now where l.at >= now.at::date)) d
 where d.rows > 0
$$;
