-- Purpose     Fail the jobs that claim_jobs would now give a worker and cannot send, because their text is no UTF-8: a database
--             in SQL_ASCII takes any bytes. Their args and metadata are kept in base64, as {"unreadable": "…"}. What it claims
--             beside them is given back by the worker, as all jobs whose claim it never heard of.
-- Parameters  incarnation, worker_id, queues, kinds, batch, lease, kind_leases, epoch: as claim_jobs
-- Returns     how many
-- Errors      as claim_jobs and fail_jobs
-- Tables      as claim_jobs and fail_jobs
create or replace function leasehold.fail_unreadable_jobs(
    incarnation uuid, worker_id text, queues text[] default null, kinds text[] default null, batch integer default 1,
    lease interval default '60 seconds', kind_leases jsonb default null, epoch bigint default null
) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
declare
    v_job      record;
    v_ids      bigint[] := '{}';
    v_attempts integer[] := '{}';
    v_error    jsonb := '{"type": "Unreadable", "message": "the text of the job is no UTF-8; its args are kept in base64", "traceback": ""}';
begin
    for v_job in select c.job_id, c.attempt, c::text as text from leasehold.claim_jobs(incarnation, worker_id, queues, kinds, batch, lease, kind_leases, epoch) c loop
        begin
            perform convert_from(convert_to(v_job.text, 'SQL_ASCII'), 'UTF8');
        exception when character_not_in_repertoire then
            update leasehold.jobs j
               set args = jsonb_build_object('unreadable', encode(convert_to(j.args::text, 'SQL_ASCII'), 'base64')),
                   metadata = case when j.metadata is not null then jsonb_build_object('unreadable', encode(convert_to(j.metadata::text, 'SQL_ASCII'), 'base64')) end
             where j.id = v_job.job_id;
            v_ids := v_ids || v_job.job_id;
            v_attempts := v_attempts || v_job.attempt;
        end;
    end loop;
    perform leasehold.fail_jobs(fail_unreadable_jobs.incarnation, v_ids, v_attempts, array_fill(v_error, array[cardinality(v_ids)]),
                                discard => array_fill(true, array[cardinality(v_ids)]));
    return cardinality(v_ids);
end
$$;
