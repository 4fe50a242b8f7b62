-- Workers as they stand: what they said of themselves, the jobs they hold, and what is odd about them.
create or replace view leasehold.all_workers as
with recursive open(queue, kind, number) as (
    -- The kinds that are pending in each queue: one index entry is read for each, however many jobs there are.
    (select j.queue, j.kind, 1 from leasehold.jobs j where j.state = 'pending' order by j.queue, j.kind limit 1)
    union all
    select n.queue, n.kind, o.number + 1 from open o
     cross join lateral (select j.queue, j.kind from leasehold.jobs j
                          where j.state = 'pending' and (j.queue, j.kind) > (o.queue, o.kind) order by j.queue, j.kind limit 1) n
     where o.number < 1000
), fleet as materialized (
    select w.incarnation, leasehold.is_alive(w, t.now) as is_alive
      from leasehold.workers w
     cross join (select leasehold.clock() as now) t
), alike as materialized (
    -- Workers of one deployment are alike, so that there are few of these however many workers there are. One without a process
    -- id is no process of ours: another system tells of it by heartbeats, and its version says nothing about theirs.
    select w.queues, w.kinds, w.version, w.app_version, max(w.started_at) as started_at, array_agg(w.incarnation) as incarnations
      from leasehold.workers w join fleet a using (incarnation)
     where a.is_alive and w.pid <> 0
     group by 1, 2, 3, 4
), release as materialized (
    -- Workers of another app have no kind in common with it but the two that every worker has.
    select a.*, a.kinds = '{}' as has_all, array_remove(array_remove(a.kinds, 'echo'), 'dummy') as own_kinds from alike a
), outdated as materialized (
    select unnest(r.incarnations) as incarnation
      from release r
     cross join lateral (select (l.version, l.app_version) is distinct from (r.version, r.app_version) as is_other
                           from release l
                          where (l.queues = '{}' or r.queues = '{}' or l.queues && r.queues)
                            and (l.has_all or r.has_all or l.own_kinds = r.own_kinds or l.own_kinds && r.own_kinds)
                          order by l.started_at desc limit 1) n
     where n.is_other
)
select w.worker_id, coalesce(w.name, leasehold.name_worker(w.worker_id)) as name, w.host, w.pid, w.version, w.app_version, w.queues, w.kinds, w.slots,
       cardinality(h.job_ids) as active_jobs, h.job_ids as active_job_ids,
       case when w.stopped_at is null and not a.is_alive then 'stale' else w.state end as state,
       w.memory, w.memory_limit, w.cpu, w.cpu_limit,
       case when a.is_alive then w.backoff end as backoff, case when a.is_alive then w.backoff_until end as backoff_until,
       coalesce(m.kinds, '{}') as missing_kinds, o.incarnation is not null as outdated,
       w.started_at, w.heartbeat_at, w.stopped_at, w.incarnation, extract(epoch from t.now - w.heartbeat_at)::double precision as silent_for, w.lost_wake_ups,
       w.rss, w.cpu_user, w.cpu_system, case when a.is_alive then w.stray_handlers else 0 end as stray_handlers
  from leasehold.workers w
 cross join (select leasehold.clock() as now) t
  join fleet a on a.incarnation = w.incarnation
 cross join lateral (select coalesce(array_agg(f.id), '{}') as job_ids
                       from (select j.id from leasehold.jobs j where j.incarnation = w.incarnation and j.state in ('claimed', 'running')
                              order by j.state = 'running' desc, j.id limit w.slots) f) h
  left join lateral (select array_agg(distinct p.kind order by p.kind) as kinds from open p
                      where a.is_alive and w.kinds <> '{}' and p.kind <> all (w.kinds) and (w.queues = '{}' or p.queue = any (w.queues))) m on true
  left join outdated o on o.incarnation = w.incarnation;
