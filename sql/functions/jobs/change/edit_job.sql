-- Purpose     Change the args of a job, or its place in the order, before it runs (again). Edit a failed or cancelled
--             job first and retry it then. Its unique key stays what it was when the job was enqueued.
-- Parameters  job_id · args, priority, queue, run_at, max_attempts, metadata: what is to be changed; null leaves it
--             reason: for people, stands in the timeline beside the old and the new values
-- Returns     the state it is in now
-- Errors      LH001 a value is refused, or there is none · LH002 no such job
--             LH004 a worker holds it, it has completed, or it has ended and is given a run_at
-- Tables      jobs as change_jobs, or finished_jobs; job_events (insert); keys as promote_waiting_jobs
create or replace function leasehold.edit_job(
    job_id bigint, args jsonb default null, priority integer default null, queue text default null, run_at timestamptz default null,
    max_attempts integer default null, metadata jsonb default null, reason text default null
) returns text language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_complaint text := leasehold.refuse_job('-', edit_job.args, edit_job.queue, null, edit_job.max_attempts, null, edit_job.metadata, null,
                                             edit_job.run_at, null, null, null, null, null);
    v_new       jsonb;
    v_old       jsonb;
    v_open      leasehold.jobs;
    v_past      leasehold.finished_jobs;
begin
    select jsonb_object_agg(w.name, w.value) into v_new
      from (values ('args', edit_job.args), ('priority', to_jsonb(edit_job.priority)), ('queue', to_jsonb(edit_job.queue)),
                   ('run_at', to_jsonb(edit_job.run_at)), ('max_attempts', to_jsonb(edit_job.max_attempts)), ('metadata', edit_job.metadata)) w(name, value)
     where w.value is not null;
    v_complaint := coalesce(v_complaint, case when v_new is null then 'give at least one of args, priority, queue, run_at, max_attempts, metadata' end);
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint;
    end if;

    select j.* into v_open from leasehold.jobs j where j.id = edit_job.job_id for update;
    if v_open.incarnation is not null then
        raise exception using errcode = 'LH004', message = format('job %s is %s and cannot be edited: a worker holds it', v_open.id, v_open.state);
    elsif v_open.id is not null then
        v_old := to_jsonb(v_open);
        select c.* into v_open from leasehold.change_jobs(
            array[edit_job.job_id], array[edit_job.args], array[edit_job.metadata], array[edit_job.priority], array[edit_job.queue],
            array[edit_job.max_attempts], array[edit_job.run_at]) c;
    else
        select f.* into v_past from leasehold.finished_jobs f where f.id = edit_job.job_id and f.state in ('failed', 'cancelled') for update;
        if not found then
            perform leasehold.refuse_finished_job(edit_job.job_id, 'edited');
        elsif edit_job.run_at is not null then
            raise exception using errcode = 'LH004', message = format('job %s is %s: run_at says nothing until it is retried', v_past.id, v_past.state);
        end if;
        v_old := to_jsonb(v_past);
        update leasehold.finished_jobs f
           set args = coalesce(edit_job.args, f.args), metadata = coalesce(edit_job.metadata, f.metadata), queue = coalesce(edit_job.queue, f.queue),
               priority = coalesce(edit_job.priority, f.priority), max_attempts = coalesce(edit_job.max_attempts, f.max_attempts)
         where f.id = v_past.id and f.finished_at = v_past.finished_at;
    end if;

    insert into leasehold.job_events (job_id, at, event, attempt, message, detail)
    values (edit_job.job_id, leasehold.clock(), 'edited', (v_old ->> 'attempt')::integer, edit_job.reason, jsonb_build_object(
            'old', (select jsonb_object_agg(n.name, v_old -> n.name) from jsonb_object_keys(v_new) n(name)), 'new', v_new));
    if v_open.key is not null then
        perform leasehold.promote_waiting_jobs(array[v_open.key]);
    elsif v_open.state = 'pending' or v_open.state = 'scheduled' and edit_job.run_at is not null then
        perform leasehold.wake_idle_workers(array[v_open.queue]);
    end if;
    return coalesce((select j.state from leasehold.jobs j where j.id = v_open.id), v_past.state);
end
$$;
