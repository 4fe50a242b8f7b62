-- Purpose     List the history of schedules: what became of their ticks, newest first. The janitor removes it with
--             the finished jobs.
-- Parameters  name: of a schedule, or its id: only its · outcome: fired, skipped, failed · before_id: only older ones (the last id of the
--             page before) · page_size: 1 to 1000
-- Returns     tick_at: when it was due · fired_at: when it was dealt with · origin: timer, trigger, generate · reason: why it was
--             skipped: overlap, missed, coalesced, catch_up_limit · ticks: how many a skipped row stands for, up to last_tick_at;
--             null: more than 10000 · error: why it failed · fired_by: who
-- Errors      LH001 page_size out of range, outcome unknown · LH002 there is no such schedule
-- Tables      schedule_ticks, schedules (read)
create or replace function leasehold.list_schedule_ticks(
    name text default null, outcome text default null, before_id bigint default null, page_size integer default 50
) returns setof leasehold.schedule_history language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_id bigint;
begin
    if coalesce(list_schedule_ticks.page_size, 0) not between 1 and 1000 then
        raise exception using errcode = 'LH001', message = format('page_size must be from 1 to 1000, not %s', coalesce(list_schedule_ticks.page_size::text, 'null'));
    elsif list_schedule_ticks.outcome not in ('fired', 'skipped', 'failed') then
        raise exception using errcode = 'LH001', message = format('the outcome of a tick is never %L', list_schedule_ticks.outcome), hint = 'outcomes: fired, skipped, failed';
    end if;
    v_id := case when list_schedule_ticks.name is not null then (leasehold.find_schedule(list_schedule_ticks.name)).id end;
    return query
    select h.* from leasehold.schedule_history h
     where (v_id is null or h.schedule_id = v_id) and (list_schedule_ticks.outcome is null or h.outcome = list_schedule_ticks.outcome)
       and h.id < coalesce(list_schedule_ticks.before_id, 9223372036854775807)
     order by h.id desc limit list_schedule_ticks.page_size;
end
$$;
