-- Purpose     Send a command to a worker. The worker hears of it at once by a notification, else with its next
--             heartbeat, carries it out and acknowledges it. The view all_commands shows how it stands.
-- Parameters  worker: as find_worker · valid_for: a worker that has not heard of it by then never will · args: JSON object ·
--             command: decommission: end, once what runs has ended · pause, resume: claim nothing, claim again ·
--             set_concurrency {slots}: run so many jobs at once · cancel_job {job_id}: cancel a job that it runs ·
--             dump_stacks {job_id}: answer where the handler is; without job_id those of all its jobs
-- Returns     the id of the command
-- Errors      LH001 command or args unknown, or as find_worker · LH002 as find_worker · LH004 the worker has ended, or is silent
-- Tables      worker_commands, workers, jobs (read)
create or replace function leasehold.command_worker(worker text, command text, args jsonb default '{}', valid_for interval default '5 minutes')
returns bigint language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    c_args        constant jsonb := '{"decommission": [], "pause": [], "resume": [], "set_concurrency": ["slots"], "cancel_job": ["job_id"], "dump_stacks": ["job_id"]}';
    v_now         timestamptz := leasehold.clock();
    v_wrong       text;
    v_incarnation uuid;
    v_worker      leasehold.workers;
    v_id          bigint;
begin
    if command_worker.command is null or not c_args ? command_worker.command then
        raise exception using errcode = 'LH001', message = format('there is no command %s', coalesce(quote_literal(command_worker.command), 'null')),
            hint = 'commands: decommission, pause, resume, set_concurrency, cancel_job, dump_stacks';
    end if;
    if coalesce(jsonb_typeof(command_worker.args), 'null') <> 'object' then
        raise exception using errcode = 'LH001', message = 'args must be a JSON object';
    end if;
    select a.key into v_wrong from jsonb_each(command_worker.args) a
     where not c_args -> command_worker.command ? a.key or jsonb_typeof(a.value) <> 'number' or a.value::numeric <> trunc(a.value::numeric)
        or a.value::numeric not between 1 and case a.key when 'slots' then 10000 else 9223372036854775807 end
     order by 1 limit 1;
    if found then
        raise exception using errcode = 'LH001', message = format('%s does not take %s: %s', command_worker.command, v_wrong, command_worker.args ->> v_wrong),
            hint = 'slots: 1 to 10000; job_id: the id of a job';
    end if;
    if command_worker.command <> 'dump_stacks' and not command_worker.args ?& array(select jsonb_array_elements_text(c_args -> command_worker.command)) then
        raise exception using errcode = 'LH001', message = format('%s needs %s', command_worker.command, c_args -> command_worker.command ->> 0);
    end if;
    if coalesce(command_worker.valid_for, '0') <= interval '0' then
        raise exception using errcode = 'LH001', message = format('valid_for must be more than 0 seconds, not %s', coalesce(command_worker.valid_for::text, 'null'));
    end if;
    v_incarnation := leasehold.find_worker(command_worker.worker);
    select * into v_worker from leasehold.workers w where w.incarnation = v_incarnation;
    if not found then  -- forgotten meanwhile
        raise exception using errcode = 'LH004', message = format('worker %s has ended', command_worker.worker);
    elsif v_worker.stopped_at is not null then
        raise exception using errcode = 'LH004', message = format('worker %s has ended at %s', v_worker.worker_id, date_trunc('second', v_worker.stopped_at));
    elsif not leasehold.is_alive(v_worker, v_now) then
        raise exception using errcode = 'LH004',
            message = format('worker %s was last heard of at %s and is probably dead', v_worker.worker_id, date_trunc('second', v_worker.heartbeat_at));
    end if;
    insert into leasehold.worker_commands (incarnation, command, args, created_at, expires_at)
    values (v_worker.incarnation, command_worker.command, command_worker.args, v_now, v_now + command_worker.valid_for)
    returning worker_commands.id into v_id;
    perform leasehold.send_notice(format('command:%s', v_worker.incarnation));
    return v_id;
end
$$;
