-- Purpose     Make the jobs of a schedule by hand and write that to its history.
-- Parameters  schedule: the row · origin: trigger, generate · due_at: its tick · starts_at: when the first job is to run
--             stagger, batches: as make_tick_jobs · actor: who does it; null: the session's user · notify: wake idle workers at commit
-- Returns     tick_at, job_count, job_ids; is_new: false where it was done before, and these are those jobs
-- Errors      LH001 its query fails, or gives something that is no job
-- Tables      those of its query, schedule_ticks (insert), schedules (one row), as add_jobs
create or replace function leasehold.run_schedule(
    schedule leasehold.schedules, origin text, due_at timestamptz, starts_at timestamptz, stagger double precision, batches integer, actor text, notify boolean
) returns table (tick_at timestamptz, job_count integer, job_ids bigint[], is_new boolean) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    s      leasehold.schedules := run_schedule.schedule;
    v_now  timestamptz := leasehold.clock();
    v_jobs jsonb[];
    v_ids  bigint[];
begin
    if exists (select from leasehold.schedule_ticks t where t.schedule_id = s.id and t.origin = run_schedule.origin and t.tick_at = due_at) then
        return query select t.tick_at, t.job_count, t.job_ids, false from leasehold.schedule_ticks t
                      where t.schedule_id = s.id and t.origin = run_schedule.origin and t.tick_at = due_at;
        return;
    end if;
    v_jobs := leasehold.make_tick_jobs(s, due_at, case when s.query is not null then array(select leasehold.read_schedule_rows(s.query, s.query_rows)) end,
                                       run_schedule.starts_at, run_schedule.stagger, run_schedule.batches);
    if leasehold.is_epoch_over(null) then
        perform leasehold.start_epoch(pg_sequence_last_value('leasehold.epochs_id_seq'));
    end if;
    v_ids := array(select nextval('leasehold.jobs_id_seq') from generate_series(1, cardinality(v_jobs)));
    insert into leasehold.schedule_ticks (schedule_id, origin, tick_at, fired_at, outcome, job_count, job_ids, fired_by)
    values (s.id, run_schedule.origin, due_at, v_now, 'fired', cardinality(v_jobs), v_ids, coalesce(run_schedule.actor, session_user))
    on conflict do nothing;
    if not found then -- somebody else did it meanwhile
        return query select * from leasehold.run_schedule(s, run_schedule.origin, due_at, run_schedule.starts_at, run_schedule.stagger, run_schedule.batches,
                                                           run_schedule.actor, run_schedule.notify);
        return;
    end if;
    perform leasehold.add_jobs(leasehold.fill_jobs(to_jsonb(v_jobs), true), v_ids, null, null, null, run_schedule.notify);
    update leasehold.schedules u set last_run_at = v_now, last_job_count = cardinality(v_jobs), last_error = null where u.id = s.id;
    return query select due_at, cardinality(v_jobs), v_ids, true;
end
$$;
