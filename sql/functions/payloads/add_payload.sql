-- Purpose     Make a payload known whose content lies in the store. Until the transaction ends, list_orphan_files leaves the
--             file alone.
-- Parameters  payload_id, created_at: from name_payload, at most a day ago · kind, key, job_id, metadata: what it is and is about; key,
--             job_id and metadata may be null · size, compressed_size: bytes, before and after compression · sha256: of the content
--             before it was compressed · codec: gzip or none · media_type: of the content · location: its path in the store
--             attempt, incarnation: with job_id the fencing token; the lease is checked. Null: the saver holds no job
--             is_claim: it is the args or the output of a job, and is kept as long as that job
-- Returns     the row
-- Errors      LH001 a value is refused · LH003 this attempt does not hold the job
-- Tables      jobs (row lock as assert_lease), payloads (insert), an advisory lock
create or replace function leasehold.add_payload(
    payload_id bigint, created_at timestamptz, kind text, key text, job_id bigint, size bigint, compressed_size bigint, sha256 bytea,
    codec text, media_type text, location text, metadata jsonb default null, attempt integer default null, incarnation uuid default null,
    is_claim boolean default false
) returns setof leasehold.payloads language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_problem text := case
        when coalesce(length(add_payload.kind), 0) not between 1 and 255 then 'kind must have 1 to 255 characters'
        when length(add_payload.key) not between 1 and 1024 then 'key must have 1 to 1024 characters, or be null'
        when coalesce(length(add_payload.location), 0) not between 1 and 2000 then 'location must have 1 to 2000 characters'
        when coalesce(length(add_payload.media_type), 0) not between 1 and 255 then 'media_type must have 1 to 255 characters'
        when jsonb_typeof(add_payload.metadata) <> 'object' then format('metadata must be a JSON object, not %s', left(add_payload.metadata::text, 100))
        when add_payload.created_at is null or add_payload.created_at < leasehold.clock() - leasehold.payload_patience()
             then format('the payload was named at %s, and its content took longer than %s to write; save it again',
                         coalesce(date_trunc('second', add_payload.created_at)::text, 'no time'), leasehold.payload_patience()) end;
begin
    if v_problem is not null then
        raise exception using errcode = 'LH001', message = v_problem;
    end if;
    if add_payload.attempt is not null then
        perform leasehold.assert_lease(add_payload.job_id, add_payload.attempt, add_payload.incarnation);
    end if;
    perform pg_advisory_xact_lock_shared(hashtextextended(add_payload.location, 7001));
    return query
    insert into leasehold.payloads (id, created_at, size, compressed_size, job_id, kind, key, codec, media_type, location, sha256, metadata, is_claim)
    values (add_payload.payload_id, add_payload.created_at, add_payload.size, add_payload.compressed_size, add_payload.job_id, add_payload.kind,
            add_payload.key, add_payload.codec, add_payload.media_type, add_payload.location, add_payload.sha256, add_payload.metadata,
            add_payload.is_claim)
    returning *;
end
$$;
