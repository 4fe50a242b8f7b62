-- Purpose     Say what is wrong with the job that a row of a source becomes, or return null. One bad row must not stop those beside it,
--             so what enqueue_jobs would raise is a complaint here.
-- Parameters  doc: the job, as in enqueue_jobs
-- Returns     one sentence that names the field and the value, or null
-- Errors      none
-- Tables      kinds (read)
create or replace function leasehold.refuse_row(doc jsonb) returns text language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' as $$
declare
    v_complaint text;
    v_priority  integer;  -- read to see that it can be
begin
    begin
        v_priority := (doc ->> 'priority')::integer;
        v_complaint := leasehold.refuse_job(doc ->> 'kind', doc -> 'args', doc ->> 'queue', doc ->> 'key', (doc ->> 'max_attempts')::integer, null, doc -> 'metadata',
            (doc ->> 'delay')::double precision, (doc ->> 'run_at')::timestamptz, doc ->> 'key_group', (doc ->> 'timeout')::double precision,
            case when doc ->> 'deadline' like 'P%' then leasehold.clock() + (doc ->> 'deadline')::interval else (doc ->> 'deadline')::timestamptz end,
            doc ->> 'traceparent', null);
    exception when data_exception then
        v_complaint := coalesce(leasehold.name_unreadable_field(jsonb_build_array(doc)), sqlerrm);
    end;
    return coalesce(v_complaint, leasehold.refuse_unique(doc),
        case when doc #>> '{unique,on_conflict}' = 'reject' then 'unique.on_conflict must not be reject here: one job that is there already would stop all' end,
        (select leasehold.refuse_args(k, doc -> 'args', doc ? 'key', doc ? 'key_group') from leasehold.kinds k where k.kind = doc ->> 'kind'));
end
$$;
