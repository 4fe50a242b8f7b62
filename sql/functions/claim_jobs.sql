-- Purpose     Give this worker up to `batch` claimable jobs, best first, each under a lease; two claimers never get one
--             job. Works in lanes, a lane being the pending jobs of one queue and kind, which is how the claim index
--             begins: jobs of other kinds and queues cost nothing however many there are. A first look without locks
--             decides how many to take from each lane, so that the order holds across lanes and no lane is locked for
--             more than it gives. Jobs whose key is taken are demoted to waiting here, once, under the key's lock.
-- Parameters  incarnation, worker_id: who claims · queues: served ones, null or empty for all · kinds: those with a
--             handler, null or empty for all · batch: how many at the most · lease: how long the claim holds
--             kind_leases: JSON object from kind to seconds, for kinds with a lease of their own
-- Returns     the jobs, with the attempt that is their fencing token, best first
-- Errors      LH001 batch out of range
-- Tables      jobs (rows locked, locked ones skipped), advisory locks of keys (only tried), workers (own row)
-- Callers     the dispatcher
create or replace function leasehold.claim_jobs(
    incarnation uuid, worker_id text, queues text[] default null, kinds text[] default null, batch integer default 1,
    lease interval default '60 seconds', kind_leases jsonb default null
) returns table (job_id bigint, attempt integer, max_attempts integer, kind text, queue text, key text, priority integer,
                 args jsonb, metadata jsonb, created_at timestamptz, run_at timestamptz, lease_seconds double precision)
language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_now     timestamptz := leasehold.clock();
    v_queues  text[] := nullif(claim_jobs.queues, '{}');
    v_kinds   text[] := nullif(claim_jobs.kinds, '{}');
    v_left    integer := claim_jobs.batch;
    v_lane_queues text[];
    v_lane_kinds  text[];
    v_lane_counts integer[];
    v_free    tid[];
    v_keyed   tid[];
    v_keys    text[];
    v_demoted integer;
    v_got     integer;
    v_claimed integer := 0;
    v_swept   boolean := false;
begin
    if claim_jobs.batch not between 1 and 10000 then
        raise exception using errcode = 'LH001', message = format('batch must be from 1 to 10000, not %s', claim_jobs.batch);
    end if;
    if exists (select from leasehold.jobs j where j.state = 'scheduled' and j.run_at <= v_now) then
        perform leasehold.make_jobs_due(10000, false);
    end if;

    for round in 1 .. 50 loop
        with recursive lane(queue, kind) as (
            (select j.queue, j.kind from leasehold.jobs j where j.state = 'pending' order by j.queue, j.kind limit 1)
            union all
            select n.queue, n.kind from lane l
             cross join lateral (select j.queue, j.kind from leasehold.jobs j
                                  where j.state = 'pending' and (j.queue, j.kind) > (l.queue, l.kind)
                                  order by j.queue, j.kind limit 1) n
        )
        select array_agg(l.queue), array_agg(l.kind), array_agg(v_left) into v_lane_queues, v_lane_kinds, v_lane_counts
          from lane l
         where (v_queues is null or l.queue = any (v_queues)) and (v_kinds is null or l.kind = any (v_kinds))
           and not exists (select from leasehold.queues q where q.queue = l.queue and q.paused_at is not null);

        if cardinality(v_lane_queues) > 1 then
            select array_agg(share.queue), array_agg(share.kind), array_agg(share.jobs::integer)
              into v_lane_queues, v_lane_kinds, v_lane_counts
              from (select best.queue, best.kind, count(*) as jobs
                      from (select l.queue, l.kind
                              from unnest(v_lane_queues, v_lane_kinds) l(queue, kind)
                             cross join lateral (
                                   select j.priority, j.run_at, j.id from leasehold.jobs j
                                    where j.state = 'pending' and j.queue = l.queue and j.kind = l.kind
                                    order by j.priority desc, j.run_at, j.id limit v_left) c
                             order by c.priority desc, c.run_at, c.id limit v_left) best
                     group by best.queue, best.kind) share;
        end if;

        select coalesce(array_agg(c.place) filter (where c.key is null), '{}'),
               array_agg(c.place) filter (where c.key is not null), array_agg(c.key) filter (where c.key is not null)
          into v_free, v_keyed, v_keys
          from unnest(v_lane_queues, v_lane_kinds, v_lane_counts) l(queue, kind, jobs)
         cross join lateral (
               select j.ctid as place, j.key from leasehold.jobs j
                where j.state = 'pending' and j.queue = l.queue and j.kind = l.kind
                order by j.priority desc, j.run_at, j.id limit l.jobs for update skip locked) c;

        v_demoted := 0;
        if v_keyed is not null then
            -- Two steps, so that the look for holders has a snapshot taken after the locks were.
            v_keys := array(select case when pg_try_advisory_xact_lock(leasehold.key_lock(k.key)) then k.key end
                              from unnest(v_keys) with ordinality k(key, position) order by k.position);
            with judged as materialized (
                select c.place,
                       row_number() over (partition by c.key order by j.priority desc, j.run_at, j.id) = 1
                       and not exists (select from leasehold.jobs h
                                        where h.key = c.key and h.state in ('claimed', 'running')) as is_free
                  from unnest(v_keyed, v_keys) c(place, key)
                  join leasehold.jobs j on j.ctid = c.place
                 where c.key is not null
            ), demoted as (
                update leasehold.jobs j set state = 'waiting'
                 where j.ctid = any (array(select g.place from judged g where not g.is_free))
                returning 1
            )
            select v_free || coalesce((select array_agg(g.place) from judged g where g.is_free), '{}'), (select count(*) from demoted)
              into v_free, v_demoted;
        end if;

        return query
        with claimed as (
            update leasehold.jobs j
               set state = 'claimed', attempt = j.attempt + 1, claimed_at = v_now, incarnation = claim_jobs.incarnation,
                   worker_id = claim_jobs.worker_id,
                   lease_expires_at = v_now + coalesce(make_interval(secs => (claim_jobs.kind_leases ->> j.kind)::double precision),
                                                       claim_jobs.lease)
             where j.ctid = any (v_free)
            returning j.*
        )
        select c.id, c.attempt, c.max_attempts, c.kind, c.queue, c.key, c.priority, c.args, c.metadata, c.created_at, c.run_at,
               extract(epoch from c.lease_expires_at - v_now)::double precision
          from claimed c order by c.priority desc, c.run_at, c.id;
        get diagnostics v_got = row_count;
        v_claimed := v_claimed + v_got;
        v_left := claim_jobs.batch - v_claimed;
        exit when v_left <= 0;
        if v_demoted = 0 then
            exit when v_swept or leasehold.promote_stranded_jobs(200) = 0;
            v_swept := true;
        end if;
    end loop;

    update leasehold.workers w set idle = (v_claimed = 0)
     where w.incarnation = claim_jobs.incarnation and w.idle is distinct from (v_claimed = 0);
end
$$;
