-- Purpose     Give this worker up to `batch` claimable jobs, best first, each under a lease. Two claimers never get the same
--             job, and no claim waits for another one. A claim works in lanes: a lane is the pending jobs of one queue and
--             kind. In rounds, until it has its batch or nothing is left, it goes through find_lanes, reserve_suspects,
--             limit_lanes, share_batch, which divides the batch; locks the best jobs of each lane and passes over what others have
--             locked; demote_keyed_jobs; raise_marks; and claims what remains. One claim at a time takes from a queue with
--             limits; one that would come back with nothing waits for its turn there, 50 ms at the most.
-- Parameters  incarnation, worker_id: who claims · queues, kinds: served ones, null or empty for all · batch: how many at the
--             most · lease: how long the claim holds · kind_leases: JSON object from kind to seconds, for those with their own
--             epoch: as find_epoch; null: any · stays_idle: who gets some jobs, and fewer than the batch, goes on being woken
-- Returns     the jobs, with the attempt that is their fencing token, best first; extras is null for plain jobs, else an object
--             with what there is of chain_id, chain_position, timeout (seconds), deadline_in (seconds), traceparent, crashes
-- Errors      as refuse_claim · LH009 the epoch is over: take a new incarnation
-- Tables      advisory locks of queues, as limit_lanes, jobs (rows locked, locked ones skipped), advisory locks of keys
--             (only tried), rate_buckets as spend_from_buckets, as raise_marks, workers (own row, unless it is locked)
create or replace function leasehold.claim_jobs(
    incarnation uuid, worker_id text, queues text[] default null, kinds text[] default null, batch integer default 1,
    lease interval default '60 seconds', kind_leases jsonb default null, epoch bigint default null, stays_idle boolean default false
) returns table (job_id bigint, attempt integer, max_attempts integer, kind text, queue text, key text, priority integer,
                 args jsonb, metadata jsonb, created_at timestamptz, run_at timestamptz, lease_seconds double precision, extras jsonb)
language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_now     timestamptz := leasehold.clock();
    v_queues  text[] := nullif(claim_jobs.queues, '{}');
    v_kinds   text[] := nullif(claim_jobs.kinds, '{}');
    v_left    integer := claim_jobs.batch;  -- jobs that are still wanted
    v_index   oid := to_regclass('leasehold.jobs_pending');
    v_dead    bigint := leasehold.count_dead_entries(v_index);
    v_claimed integer := 0;
    -- The lanes of a round, an array for each column (a record of arrays is slower), and the lanes that gave less than was asked.
    v_lane_queues  text[];
    v_lane_kinds   text[];
    v_lane_classes integer[];
    v_lane_groups  text[];
    v_lane_counts  integer[];
    v_lane_shared  boolean[];
    v_dry_queues   text[] := '{}';
    v_dry_kinds    text[] := '{}';
    v_are_many boolean; v_are_more boolean; v_are_limited boolean; v_are_marked boolean;
    v_busy_queue   text;
    -- The jobs of a round, by place: v_places and v_suspects are claimed, v_passed left out from then on; v_from: the lane of each.
   v_asked   integer; v_places tid[];
    v_keyed   tid[]; v_keys text[];
    v_from    bigint[];
    v_judged  record;
    v_suspects tid[]; v_passed tid[];
    v_got      integer; v_is_idle boolean;
    v_again    boolean;  -- whether another round may find something
    v_is_swept boolean := false;
    v_is_pressed boolean;  -- null: there are no suspects; true: it takes them although there seemed to be better jobs
begin
    if (claim_jobs.incarnation is not null and claim_jobs.batch between 1 and 10000 and claim_jobs.lease > interval '0' and claim_jobs.lease <= interval '100 years'
        and (claim_jobs.kind_leases is null or jsonb_typeof(claim_jobs.kind_leases) = 'object'
             and not claim_jobs.kind_leases @? 'strict $.* ? (@.type() != "number" || @ <= 0 || @ > 3155760000)')
        and current_setting('transaction_isolation') like 'read %') is not true then
        perform leasehold.refuse_claim(claim_jobs.incarnation, claim_jobs.batch, claim_jobs.lease, claim_jobs.kind_leases);
    end if;
    if claim_jobs.epoch is not null and leasehold.is_epoch_over(claim_jobs.epoch) then
        perform leasehold.refuse_epoch(claim_jobs.epoch);
    end if;
    if exists (select from leasehold.jobs j where j.state = 'scheduled' and j.run_at <= v_now) then
        perform leasehold.make_jobs_due(1000, false);
    end if;
    for round in 1 .. 50 loop
        -- Find the lanes. Suspects are lanes of their own, and jobs with a key group, because where groups have limits each group is one.
        select f.lane_queues, f.lane_kinds, f.lane_classes, f.lane_opened, f.are_more, f.are_marked
          into v_lane_queues, v_lane_kinds, v_lane_classes, v_lane_shared, v_are_more, v_are_marked
          from leasehold.find_lanes(v_queues, v_kinds, v_dry_queues, v_dry_kinds) f;
        v_busy_queue := null;
        if v_lane_queues is null then
            exit when (v_is_swept or (select s.found from leasehold.promote_stranded_jobs(batch => 200, newest => true) s) = 0) and v_is_pressed is not false;
            select true, true, '{}', '{}' into v_is_swept, v_is_pressed, v_dry_queues, v_dry_kinds;
            continue;
        end if;

        -- Look at pauses and limits again under the locks: whoever sets them commits before we have them, or waits until we end.
        continue when exists (select from leasehold.queues q where q.queue = any (v_lane_queues) and q.paused_at is not null);

        -- Reserve suspects, as many as this worker may hold; their lanes are done with, and queues with a rate that gave one: its token is spent with its start.
        v_suspects := null;
        if 1 < any (v_lane_classes) then
            v_is_pressed := coalesce(v_is_pressed, false);
            v_suspects := leasehold.reserve_suspects(claim_jobs.incarnation, v_lane_queues, v_lane_kinds, v_lane_classes, v_left, v_is_pressed);
            v_left := v_left - cardinality(v_suspects);
            select coalesce(array_agg(l.queue), '{}'), array_agg(l.kind), array_agg(l.class), array_agg(l.is_shared) into v_lane_queues, v_lane_kinds, v_lane_classes, v_lane_shared
              from unnest(v_lane_queues, v_lane_kinds, v_lane_classes, v_lane_shared) l(queue, kind, class, is_shared)
             where l.class < 2 and v_left > 0 and not (v_suspects <> '{}' and exists (
                   select from leasehold.jobs j join leasehold.limits m using (queue) where j.ctid = any (v_suspects) and j.queue = l.queue and m.rate is not null));
        end if;
        v_lane_groups := null;
        v_are_many := cardinality(v_lane_queues) > 1;
        v_lane_counts := array_fill(v_left, array[cardinality(v_lane_queues)]);
        v_are_limited := false = any (v_lane_shared) or exists (select from leasehold.limits m where m.queue = any (v_lane_queues));

        -- Ask the limits.
        if v_are_limited then
            select array_agg(l.queue) filter (where l.jobs > 0), array_agg(l.kind) filter (where l.jobs > 0),
                   array_agg(l.class) filter (where l.jobs > 0), array_agg(l.key_group) filter (where l.jobs > 0),
                   array_agg(l.jobs) filter (where l.jobs > 0), coalesce(count(l.jobs) > 1 and sum(l.jobs) > v_left, false),
                   max(l.queue) filter (where l.jobs is null)
              into v_lane_queues, v_lane_kinds, v_lane_classes, v_lane_groups, v_lane_counts, v_are_many, v_busy_queue
              from leasehold.limit_lanes(v_lane_queues, v_lane_kinds, v_lane_classes, v_lane_shared, v_left, v_passed) l;
        end if;

        -- Divide the batch.
        v_asked := v_left;
        if v_are_many then
            select array_agg(l.queue), array_agg(l.kind), array_agg(l.class), array_agg(l.key_group), array_agg(l.jobs), sum(l.jobs)
              into v_lane_queues, v_lane_kinds, v_lane_classes, v_lane_groups, v_lane_counts, v_asked
              from leasehold.share_batch(v_lane_queues, v_lane_kinds, v_lane_classes, v_lane_groups, v_lane_counts, v_left, v_passed) l;
        end if;

        -- Lock the best jobs of each lane; of lanes that are one group in a second look, through the index of groups.
        select coalesce(array_agg(c.place) filter (where c.key is null), '{}'),
               array_agg(c.place) filter (where c.key is not null), array_agg(c.key) filter (where c.key is not null),
               array_agg(l.position)
          into v_places, v_keyed, v_keys, v_from
          from unnest(v_lane_queues, v_lane_kinds, v_lane_classes, v_lane_counts) with ordinality l(queue, kind, class, jobs, position)
         cross join lateral (
               (select * from (select j.ctid as place, j.key from leasehold.jobs j
                where not v_are_marked and j.state = 'pending' and j.queue = l.queue and j.kind = l.kind
                  and leasehold.lane_class(j.crashes, j.key_group) = l.class and (v_passed is null or j.ctid <> all (v_passed))
                order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit l.jobs for update skip locked) p)
               union all
               (select m.place, m.key from leasehold.list_marked_jobs(l.queue, l.kind, l.class, l.jobs, v_passed, true) m where v_are_marked and l.class is not null)) c;
        if v_are_limited then
            select v_places || coalesce(array_agg(c.place) filter (where c.key is null), '{}'),
                   v_keyed || array_agg(c.place) filter (where c.key is not null), v_keys || array_agg(c.key) filter (where c.key is not null),
                   v_from || array_agg(l.position)
              into v_places, v_keyed, v_keys, v_from
              from unnest(v_lane_queues, v_lane_kinds, v_lane_groups, v_lane_counts) with ordinality l(queue, kind, key_group, jobs, position)
             cross join lateral (
                   select j.ctid as place, j.key from leasehold.jobs j
                    where j.state = 'pending' and j.queue = l.queue and j.kind = l.kind and j.key_group is not null and j.key_group = l.key_group and j.crashes is null
                      and (v_passed is null or j.ctid <> all (v_passed))
                    order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit l.jobs for update skip locked) c;
        end if;
        v_again := v_are_many and coalesce(v_asked, 0) = v_left and coalesce(cardinality(v_from), 0) < v_left;
        if v_again then
            select v_dry_queues || array_agg(l.queue), v_dry_kinds || array_agg(l.kind) into v_dry_queues, v_dry_kinds
              from unnest(v_lane_queues, v_lane_kinds, v_lane_counts) with ordinality l(queue, kind, jobs, position)
             where (select count(*) from unnest(v_from) f(position) where f.position = l.position) < l.jobs;
        end if;

        -- Demote jobs whose key is taken.
        if v_keyed is not null then
            select * into v_judged from leasehold.demote_keyed_jobs(v_keyed, v_keys);
            v_places := v_places || v_judged.free;
            v_passed := v_passed || v_judged.passed;
            v_again := v_again or v_judged.demoted > 0 or v_judged.passed is not null;
        end if;

        -- Claim what remains, later than the end of whatever let these jobs through while this claim waited.
        v_now := leasehold.clock();
        if v_are_limited or v_suspects <> '{}' then
            perform leasehold.spend_from_buckets(v_places || v_suspects, v_now);
        end if;
        if leasehold.count_dead_entries(v_index) - v_dead > (case when v_are_marked then 1000 else 5000 end) and v_places <> '{}' then
            perform leasehold.raise_marks(v_places);
        end if;
        return query
        with claimed as (
            update leasehold.jobs j
               set state = 'claimed', attempt = j.attempt + 1, claimed_at = v_now, incarnation = claim_jobs.incarnation,
                   worker_id = claim_jobs.worker_id, limited = case when j.incarnation is null then nullif(v_are_limited, false) else j.limited end,
                   lease_expires_at = v_now + coalesce(make_interval(secs => (claim_jobs.kind_leases ->> j.kind)::double precision), claim_jobs.lease)
             where j.ctid = any (v_places || v_suspects)
            returning j.id, j.attempt, j.max_attempts, j.kind, j.queue, j.key, j.priority, j.args, j.metadata, j.created_at, j.run_at, j.lease_expires_at,
                      case when j.chain_id is not null or j.timeout is not null or j.deadline is not null or j.traceparent is not null
                                or j.crashes is not null
                           then jsonb_strip_nulls(jsonb_build_object('chain_id', j.chain_id, 'chain_position', j.chain_position, 'timeout', j.timeout,
                                    'deadline_in', extract(epoch from j.deadline - v_now), 'traceparent', j.traceparent, 'crashes', j.crashes))
                      end as extras
        )
        select c.id, c.attempt, c.max_attempts, c.kind, c.queue, c.key, c.priority, c.args, c.metadata, c.created_at, c.run_at,
               extract(epoch from c.lease_expires_at - v_now)::double precision, c.extras
          from claimed c order by c.priority desc, c.run_at, c.id;
        get diagnostics v_got = row_count;
        v_claimed := v_claimed + v_got;
        v_left := claim_jobs.batch - v_claimed;
        -- Decide whether to look again. What others have just left behind is promoted once.
        exit when v_left <= 0;
        if not v_again then
            continue when v_claimed = 0 and v_are_more and round < 5;
            continue when v_claimed = 0 and v_busy_queue is not null and leasehold.wait_for_queue(v_busy_queue);
            exit when (v_is_swept or (select s.found from leasehold.promote_stranded_jobs(batch => 200, newest => true) s) = 0) and v_is_pressed is not false;
            select true, true, '{}', '{}' into v_is_swept, v_is_pressed, v_dry_queues, v_dry_kinds;
        end if;
    end loop;

    -- A reaper that has our row may wait for a job that we hold, so we must not wait for it; the next claim says it again, or the next poll (look_for_work).
    v_is_idle := v_claimed = 0 or (claim_jobs.stays_idle and v_claimed < claim_jobs.batch);
    update leasehold.workers w set idle = v_is_idle, idle_since = case when v_is_idle then v_now else w.idle_since end
     where w.incarnation = (select o.incarnation from leasehold.workers o
                             where o.incarnation = claim_jobs.incarnation and o.idle is distinct from v_is_idle
                               for no key update skip locked);
end
$$;
