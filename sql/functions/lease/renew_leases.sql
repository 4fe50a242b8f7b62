-- Purpose     Renew leases, and show as running the jobs whose handler has started, in one statement for all jobs of
--             a worker. It touches no indexed column of a running job, so the update is heap-only. A row that
--             somebody has locked to change it (the reaper, a settlement) is neither renewed nor refused;
--             assert_lease does not get in the way.
-- Parameters  incarnation, job_ids, attempts: the identities · leases: seconds from now
--             ran_for: seconds since the handler started; null: it has not
-- Returns     job_id and reason for each that was not renewed: as name_refusals, or busy where the row is locked
-- Errors      LH001 not one lease for each job, or one that is not more than 0 seconds and at most 100 years
-- Tables      jobs (rows locked, locked ones skipped)
create or replace function leasehold.renew_leases(
    incarnation uuid, job_ids bigint[], attempts integer[], leases double precision[], ran_for double precision[]
) returns table (job_id bigint, reason text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
    v_ids bigint[];
begin
    if (0 < all (renew_leases.leases) and leasehold.longest_time() >= all (renew_leases.leases)
        and cardinality(renew_leases.leases) = cardinality(renew_leases.job_ids)) is not true then
        raise exception using errcode = 'LH001', message = 'leases must be one for each job, each more than 0 seconds and at most 100 years';
    end if;
    with mine as materialized (
        select j.id, r.lease, r.ran_for
          from (select * from unnest(renew_leases.job_ids, renew_leases.attempts, renew_leases.leases, renew_leases.ran_for)
                       r(id, attempt, lease, ran_for) order by r.id) r
          join leasehold.jobs j on j.id = r.id
         where j.attempt = r.attempt and j.incarnation = renew_leases.incarnation and j.id = any (renew_leases.job_ids)
           for no key update of j skip locked
    ), renewed as (
        update leasehold.jobs j
           set lease_expires_at = v_now + make_interval(secs => m.lease), heartbeat_at = v_now,
               state = case when m.ran_for is null then j.state else 'running' end,
               started_at = case when m.ran_for is null then j.started_at
                                 else coalesce(j.started_at, greatest(j.claimed_at, v_now - make_interval(secs => m.ran_for))) end
          from mine m where j.id = m.id and j.id = any (renew_leases.job_ids)
        returning j.id
    )
    select array_agg(r.id) into v_ids from renewed r;
    if cardinality(v_ids) is distinct from cardinality(renew_leases.job_ids) then
        return query
        with refused as materialized (
            select c.id, c.attempt,
                   (select j.id from leasehold.jobs j where j.id = c.id and j.attempt = c.attempt
                                                        and j.incarnation = renew_leases.incarnation) is not null as is_mine
              from unnest(renew_leases.job_ids, renew_leases.attempts) c(id, attempt)
             where v_ids is null or c.id <> all (v_ids)
        ), named as materialized (
            select r.*
              from (select array_agg(f.id) as ids, array_agg(f.attempt) as attempts from refused f where not f.is_mine) lost
             cross join lateral leasehold.name_refusals(renew_leases.incarnation, lost.ids, lost.attempts) r
        )
        select f.id, case when f.is_mine then 'busy' else coalesce(n.reason, 'already_completed') end
          from refused f left join named n on n.job_id = f.id;
    end if;
end
$$;
