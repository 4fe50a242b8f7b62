-- Purpose     Give this worker up to `batch` claimable jobs, best first, each under a lease; two claimers never get one
--             job. Works in lanes, a lane being the pending jobs of one queue and kind, which is how the claim index
--             begins: jobs of other kinds and queues cost nothing however many there are. A first look without locks
--             decides how many to take from each lane, so that the order holds across lanes and no lane is locked for
--             more than it gives; a lane whose best jobs somebody else has locked is passed over for this call. Jobs
--             whose key is taken are demoted to waiting here, once, under the key's lock; a job whose key is being
--             settled right now is passed over. So nothing that others do makes a claim wait or come back empty-handed.
-- Parameters  incarnation, worker_id: who claims · queues: served ones, null or empty for all · kinds: those with a
--             handler, null or empty for all · batch: how many at the most · lease: how long the claim holds
--             kind_leases: JSON object from kind to seconds, for kinds with a lease of their own
-- Returns     the jobs, with the attempt that is their fencing token, best first
-- Errors      LH001 batch or lease out of range
-- Tables      jobs (rows locked, locked ones skipped), advisory locks of keys (only tried), workers (own row)
-- Callers     the dispatcher
create or replace function leasehold.claim_jobs(
    incarnation uuid, worker_id text, queues text[] default null, kinds text[] default null, batch integer default 1,
    lease interval default '60 seconds', kind_leases jsonb default null
) returns table (job_id bigint, attempt integer, max_attempts integer, kind text, queue text, key text, priority integer,
                 args jsonb, metadata jsonb, created_at timestamptz, run_at timestamptz, lease_seconds double precision)
language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
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
    v_from    bigint[];
    v_passed  tid[];
    v_dry_queues text[] := '{}';
    v_dry_kinds  text[] := '{}';
    v_many    boolean;
    v_asked   integer;
    v_more    boolean;
    v_demoted integer;
    v_got     integer;
    v_claimed integer := 0;
    v_swept   boolean := false;
begin
    if coalesce(claim_jobs.batch, 0) not between 1 and 10000 then
        raise exception using errcode = 'LH001', message = format('batch must be from 1 to 10000, not %s', coalesce(claim_jobs.batch::text, 'null'));
    end if;
    if coalesce(claim_jobs.lease, '0') <= interval '0' then
        raise exception using errcode = 'LH001', message = format('lease must be more than 0 seconds, not %s', coalesce(claim_jobs.lease::text, 'null'));
    end if;
    if exists (select from leasehold.jobs j where j.state = 'scheduled' and j.run_at <= v_now) then
        perform leasehold.make_jobs_due(1000, false);
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
        select array_agg(l.queue), array_agg(l.kind), array_agg(v_left), count(*) > 1
          into v_lane_queues, v_lane_kinds, v_lane_counts, v_many
          from lane l
         where (v_queues is null or l.queue = any (v_queues)) and (v_kinds is null or l.kind = any (v_kinds))
           and not exists (select from leasehold.queues q where q.queue = l.queue and q.paused_at is not null)
           and not exists (select from unnest(v_dry_queues, v_dry_kinds) d(queue, kind) where d.queue = l.queue and d.kind = l.kind);

        v_asked := v_left;
        if v_many then
            select array_agg(share.queue), array_agg(share.kind), array_agg(share.jobs::integer), sum(share.jobs)
              into v_lane_queues, v_lane_kinds, v_lane_counts, v_asked
              from (select best.queue, best.kind, count(*) as jobs
                      from (select l.queue, l.kind
                              from unnest(v_lane_queues, v_lane_kinds) l(queue, kind)
                             cross join lateral (
                                   select j.priority, j.run_at, j.id from leasehold.jobs j
                                    where j.state = 'pending' and j.queue = l.queue and j.kind = l.kind
                                      and (v_passed is null or j.ctid <> all (v_passed))
                                    order by j.priority desc, j.run_at, j.id limit v_left) c
                             order by c.priority desc, c.run_at, c.id limit v_left) best
                     group by best.queue, best.kind) share;
        end if;

        select coalesce(array_agg(c.place) filter (where c.key is null), '{}'),
               array_agg(c.place) filter (where c.key is not null), array_agg(c.key) filter (where c.key is not null),
               array_agg(l.position)
          into v_free, v_keyed, v_keys, v_from
          from unnest(v_lane_queues, v_lane_kinds, v_lane_counts) with ordinality l(queue, kind, jobs, position)
         cross join lateral (
               select j.ctid as place, j.key from leasehold.jobs j
                where j.state = 'pending' and j.queue = l.queue and j.kind = l.kind
                  and (v_passed is null or j.ctid <> all (v_passed))
                order by j.priority desc, j.run_at, j.id limit l.jobs for update skip locked) c;

        v_more := v_many and v_asked = v_left and coalesce(cardinality(v_from), 0) < v_left;
        if v_more then
            select v_dry_queues || array_agg(l.queue), v_dry_kinds || array_agg(l.kind) into v_dry_queues, v_dry_kinds
              from unnest(v_lane_queues, v_lane_kinds, v_lane_counts) with ordinality l(queue, kind, jobs, position)
             where (select count(*) from unnest(v_from) f(position) where f.position = l.position) < l.jobs;
        end if;

        v_demoted := 0;
        if v_keyed is not null then
            -- Two steps, so that the look for holders has a snapshot taken after the locks were.
            v_keys := array(select case when pg_try_advisory_xact_lock(leasehold.key_lock(k.key)) then k.key end
                              from unnest(v_keys) with ordinality k(key, position) order by k.position);
            if array_position(v_keys, null) is not null then
                v_more := true;
                v_passed := coalesce(v_passed, '{}')
                            || array(select c.place from unnest(v_keyed, v_keys) c(place, key) where c.key is null);
            end if;
            with judged as materialized (
                select c.place,
                       row_number() over (partition by c.key order by j.priority desc, j.run_at, j.id) = 1
                       and (select h.id from leasehold.jobs h
                             where h.key = c.key and h.incarnation is not null limit 1) is null as is_free
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
            returning j.id, j.attempt, j.max_attempts, j.kind, j.queue, j.key, j.priority, j.args, j.metadata, j.created_at, j.run_at,
                      j.lease_expires_at
        )
        select c.id, c.attempt, c.max_attempts, c.kind, c.queue, c.key, c.priority, c.args, c.metadata, c.created_at, c.run_at,
               extract(epoch from c.lease_expires_at - v_now)::double precision
          from claimed c order by c.priority desc, c.run_at, c.id;
        get diagnostics v_got = row_count;
        v_claimed := v_claimed + v_got;
        v_left := claim_jobs.batch - v_claimed;
        exit when v_left <= 0;
        if v_demoted = 0 and not v_more then
            exit when v_swept or leasehold.promote_stranded_jobs(200) = 0;
            v_swept := true;
        end if;
    end loop;

    update leasehold.workers w set idle = (v_claimed = 0)
     where w.incarnation = claim_jobs.incarnation and w.idle is distinct from (v_claimed = 0);
end
$$;
