-- Purpose     List payloads, the newest first.
-- Parameters  key, kind, job_id: only those about it, of it, saved by it · before_id: only older ones than this one (the last of the
--             page before) · page_size: how many at the most, 1 to 1000
-- Returns     the rows; none that have expired
-- Errors      LH001 page_size out of range
-- Tables      payloads (read)
create or replace function leasehold.list_payloads(
    key text default null, kind text default null, job_id bigint default null, before_id bigint default null, page_size integer default 100
) returns setof leasehold.payloads language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_custom_plan set jit = off as $$
#variable_conflict use_column
begin
    if coalesce(list_payloads.page_size, 0) not between 1 and 1000 then
        raise exception using errcode = 'LH001', message = format('page_size must be from 1 to 1000, not %s', coalesce(list_payloads.page_size::text, 'null'));
    end if;
    return query
    select p.* from leasehold.payloads p
     where (list_payloads.key is null or p.key = list_payloads.key) and (list_payloads.kind is null or p.kind = list_payloads.kind)
       and (list_payloads.job_id is null or p.job_id = list_payloads.job_id) and (list_payloads.before_id is null or p.id < list_payloads.before_id)
       and p.expired_at is null
     order by p.id desc limit list_payloads.page_size;
end
$$;
