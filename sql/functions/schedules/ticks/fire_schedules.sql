-- Purpose     Fire the ticks that are due: make the jobs, and write down the ticks and when the next ones are, in one
--             transaction. A schedule fires only if its next tick is still the one that the caller found, so one
--             scheduler of any number fires it. Schedules that another one has locked are left to it.
-- Parameters  fires: JSON array of objects with id, revision, expected (the next_run_at that was found), next (the new one, null: no
--             more), ticks: array of objects with at, outcome (fired, skipped, failed), reason, ticks, last_at, error (as the columns
--             of schedule_ticks), and rows: those of its query, where it has one
--             actor: who fires; null: the session's user · notify: wake idle workers at commit
-- Returns     each schedule that fired: how many ticks fired, were skipped and failed, and how many jobs they made
-- Errors      those of add_jobs, for any of them; then none has fired
-- Tables      schedules (rows locked, locked ones skipped), schedule_ticks (insert), as add_jobs
create or replace function leasehold.fire_schedules(fires jsonb, actor text default null, notify boolean default true)
returns table (schedule_id bigint, fired integer, skipped integer, failed integer, jobs integer) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_now      timestamptz := leasehold.clock();
    v_by       text := coalesce(fire_schedules.actor, session_user);
    v_fire     record;
    v_tick     record;
    v_schedule leasehold.schedules;
    v_rows     jsonb[];
    v_jobs     jsonb[];
    v_new_ids  bigint[];
    v_all      jsonb[] := '{}';
    v_ids      bigint[] := '{}';
    v_made     bigint[];
begin
    for v_fire in select * from jsonb_to_recordset(fire_schedules.fires) f(id bigint, revision bigint, expected timestamptz, next timestamptz, ticks jsonb, rows jsonb) loop
        select * into v_schedule from leasehold.schedules s
         where s.id = v_fire.id and s.enabled and s.revision = v_fire.revision and s.next_run_at = v_fire.expected and s.next_run_at <= v_now
           for update skip locked;
        continue when not found;
        v_rows := case when v_fire.rows is not null then array(select r.doc from jsonb_array_elements(v_fire.rows) with ordinality r(doc, position) order by r.position) end;
        v_made := null;
        schedule_id := v_schedule.id; fired := 0; skipped := 0; failed := 0; jobs := 0;
        for v_tick in select * from jsonb_to_recordset(v_fire.ticks) t(at timestamptz, outcome text, reason text, ticks integer, last_at timestamptz, error text) loop
            if v_tick.outcome = 'fired' and v_schedule.overlap = 'skip' and (v_made <> '{}' or leasehold.is_schedule_busy(v_schedule.id)) then
                v_tick.outcome := 'skipped'; v_tick.reason := 'overlap'; v_tick.ticks := 1;
            end if;
            v_jobs := case when v_tick.outcome = 'fired'
                           then leasehold.make_tick_jobs(v_schedule, v_tick.at, v_rows, greatest(v_tick.at, v_now), v_schedule.stagger, v_schedule.batches) else '{}' end;
            if leasehold.is_epoch_over(null) then
                perform leasehold.start_epoch(pg_sequence_last_value('leasehold.epochs_id_seq'));
            end if;
            v_new_ids := array(select nextval('leasehold.jobs_id_seq') from generate_series(1, cardinality(v_jobs)));
            insert into leasehold.schedule_ticks (schedule_id, origin, tick_at, fired_at, last_tick_at, ticks, outcome, reason, job_count, job_ids, error, fired_by)
            values (v_schedule.id, 'timer', v_tick.at, v_now, v_tick.last_at, case v_tick.outcome when 'skipped' then v_tick.ticks end, v_tick.outcome, v_tick.reason,
                    cardinality(v_jobs), case v_tick.outcome when 'fired' then v_new_ids end, v_tick.error, v_by)
            on conflict do nothing;
            continue when not found;
            v_all := v_all || v_jobs;
            v_ids := v_ids || v_new_ids;
            case v_tick.outcome
                when 'fired' then fired := fired + 1; jobs := jobs + cardinality(v_jobs); v_made := v_new_ids;
                when 'skipped' then skipped := skipped + 1;
                else failed := failed + 1;
            end case;
        end loop;
        update leasehold.schedules s
           set next_run_at = v_fire.next,
               last_tick_at = coalesce((select max(coalesce(t.last_at, t.at)) from jsonb_to_recordset(v_fire.ticks) t(at timestamptz, last_at timestamptz)), s.last_tick_at),
               last_run_at = case when fired > 0 then v_now else s.last_run_at end,
               last_job_count = case when fired > 0 then cardinality(v_made) else s.last_job_count end,
               last_error = case when failed > 0 then (select max(t.error) from jsonb_to_recordset(v_fire.ticks) t(error text)) when fired > 0 then null else s.last_error end
         where s.id = v_schedule.id;
        return next;
    end loop;
    if v_all <> '{}' then
        perform leasehold.add_jobs(leasehold.fill_jobs(to_jsonb(v_all), true), v_ids, null, null, null, fire_schedules.notify);
    end if;
end
$$;
