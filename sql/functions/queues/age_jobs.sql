-- Purpose     Raise the priority of pending jobs by one for each span that they have waited, in queues with ageing
--             (set_ageing). No job gets more than the highest priority that is pending in its queue; there it is the
--             oldest, and next. Only the oldest jobs of a queue are raised, because they are the ones that would
--             starve. If all have one priority, nothing is written.
-- Parameters  batch: how many jobs of a queue at the most
-- Returns     how many were raised
-- Errors      none
-- Tables      queues, then jobs (rows locked, locked ones skipped)
create or replace function leasehold.age_jobs(batch integer default 1000) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_now    timestamptz := leasehold.clock();
    v_queue  record;
    v_count  integer;
    v_raised integer := 0;
begin
    for v_queue in
        select q.queue, q.ageing, floor(extract(epoch from v_now - q.aged_at) / extract(epoch from q.ageing))::bigint as spans, q.aged_at
          from leasehold.queues q where q.ageing is not null and q.aged_at + q.ageing <= v_now
         order by q.queue for update skip locked
    loop
        update leasehold.queues q set aged_at = v_queue.aged_at + v_queue.spans * v_queue.ageing where q.queue = v_queue.queue;
        with recursive line(kind, class) as (
            (select j.kind, leasehold.lane_class(j.crashes, j.key_group) from leasehold.jobs j where j.state = 'pending' and j.queue = v_queue.queue
              order by j.kind, leasehold.lane_class(j.crashes, j.key_group) limit 1)
            union all
            select n.kind, n.class from line l
             cross join lateral (select j.kind, leasehold.lane_class(j.crashes, j.key_group) as class from leasehold.jobs j
                                  where j.state = 'pending' and j.queue = v_queue.queue
                                    and (j.kind, leasehold.lane_class(j.crashes, j.key_group)) > (l.kind, l.class)
                                  order by j.kind, leasehold.lane_class(j.crashes, j.key_group) limit 1) n
        ), step(kind, class, priority) as (
            select l.kind, l.class, p.priority from line l
             cross join lateral (select j.priority from leasehold.jobs j
                                  where j.state = 'pending' and j.queue = v_queue.queue and j.kind = l.kind
                                    and leasehold.lane_class(j.crashes, j.key_group) = l.class
                                  order by j.priority desc limit 1) p
            union all
            select s.kind, s.class, p.priority from step s
             cross join lateral (select j.priority from leasehold.jobs j
                                  where j.state = 'pending' and j.queue = v_queue.queue and j.kind = s.kind
                                    and leasehold.lane_class(j.crashes, j.key_group) = s.class
                                    and j.priority < s.priority
                                  order by j.priority desc limit 1) p
        ), top as materialized (
            select max(s.priority) as priority from step s
        ), oldest as materialized (
            select c.place from step s cross join top t
             cross join lateral (select j.ctid as place, j.run_at, j.id from leasehold.jobs j
                                  where j.state = 'pending' and j.queue = v_queue.queue and j.kind = s.kind
                                    and leasehold.lane_class(j.crashes, j.key_group) = s.class
                                    and j.priority = s.priority and coalesce(j.pending_at, j.run_at) <= v_now - v_queue.ageing
                                  order by coalesce(j.pending_at, j.run_at), j.id limit age_jobs.batch) c
             where s.priority < t.priority
             order by c.run_at, c.id limit age_jobs.batch
        ), locked as materialized (
            select j.ctid as place from leasehold.jobs j where j.ctid = any (array(select o.place from oldest o)) and j.state = 'pending' for update skip locked
        )
        update leasehold.jobs j
           set priority = least(t.priority::bigint, j.priority + least(v_queue.spans,
                                  floor(extract(epoch from v_now - j.run_at) / extract(epoch from v_queue.ageing))::bigint))::integer,
               pending_at = case when exists (select from leasehold.lane_marks) then v_now end
          from top t where j.ctid = any (array(select l.place from locked l));
        get diagnostics v_count = row_count;
        v_raised := v_raised + v_count;
    end loop;
    return v_raised;
end
$$;
