-- Purpose     Hide the payloads that are older than `keep_days`, before their content is deleted. Those that are the args or the
--             output of a job go with that job. Tells again those that a process hid and did not delete.
-- Parameters  keep_days: at least 1 · batch: how many at the most · keep_claims_days: how long finished jobs are kept; of payloads that are
--             args or outputs those are looked at that are older; null: as keep_days
-- Returns     payload_id and location of each hidden payload; delete their content, then call delete_payloads; call again until none is left
-- Errors      LH001 keep_days out of range
-- Tables      jobs, finished_jobs (read); payloads (update, locked ones skipped)
create or replace function leasehold.expire_old_payloads(keep_days integer, batch integer default 500, keep_claims_days integer default null)
returns table (payload_id bigint, location text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off as $$
#variable_conflict use_column
begin
    if expire_old_payloads.keep_days is null or keep_days < 1 then
        raise exception using errcode = 'LH001', message = format('keep_days must be 1 or more, not %s', coalesce(keep_days::text, 'null'));
    end if;
    return query
    with old as materialized (
        select o.id from leasehold.payloads o
         where o.expired_at is not null
            or o.created_at < leasehold.clock()::date - expire_old_payloads.keep_days and not o.is_claim
            or o.is_claim and o.created_at < leasehold.clock()::date - coalesce(expire_old_payloads.keep_claims_days, expire_old_payloads.keep_days)
               and not exists (select from leasehold.jobs j where j.id = o.job_id)
               and not exists (select from leasehold.finished_jobs f where f.id = o.job_id)
         order by o.id limit expire_old_payloads.batch for update skip locked
    )
    update leasehold.payloads p set expired_at = coalesce(p.expired_at, leasehold.clock()) from old where p.id = old.id
    returning p.id, p.location;
end
$$;
