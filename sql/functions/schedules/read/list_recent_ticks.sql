-- Purpose     List how the last few ticks of each schedule went, a row for each, as small as a strip of states can be.
-- Parameters  most: of each schedule, 1 to 100 · queue, after_name, page_size: which schedules, as list_schedules has them
-- Returns     schedule: its name · tick_at, outcome, job_count, reason: of its ticks, the newest first; schedules without one have no row
-- Errors      LH001 most or page_size out of range
-- Tables      schedules, schedule_ticks (read: `most` index entries for each schedule)
create or replace function leasehold.list_recent_ticks(
    most integer default 20, queue text default null, after_name text default null, page_size integer default 100
) returns table (schedule text, tick_at timestamptz[], outcome text[], job_count integer[], reason text[]) language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
    if coalesce(list_recent_ticks.most, 0) not between 1 and 100 then
        raise exception using errcode = 'LH001', message = format('most must be from 1 to 100, not %s', coalesce(list_recent_ticks.most::text, 'null'));
    end if;
    return query
    select s.name, array_agg(t.tick_at order by t.id desc), array_agg(t.outcome order by t.id desc), array_agg(t.job_count order by t.id desc),
           array_agg(t.reason order by t.id desc)
      from leasehold.list_schedules(null, null, list_recent_ticks.queue, list_recent_ticks.after_name, list_recent_ticks.page_size) s
     cross join lateral (select h.* from leasehold.schedule_ticks h where h.schedule_id = s.id order by h.id desc limit list_recent_ticks.most) t
     group by s.name order by s.name;
end
$$;
