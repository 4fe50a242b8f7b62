-- Purpose     List the last few ticks of each schedule, so that one look shows how all of them have fared.
-- Parameters  most: of each schedule, 1 to 100
-- Returns     rows of schedule_history, by schedule, the newest first
-- Errors      LH001 most out of range
-- Tables      schedules, schedule_ticks (read: `most` index entries for each schedule)
create or replace function leasehold.list_latest_ticks(most integer default 20) returns setof leasehold.schedule_history language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
    if coalesce(list_latest_ticks.most, 0) not between 1 and 100 then
        raise exception using errcode = 'LH001', message = format('most must be from 1 to 100, not %s', coalesce(list_latest_ticks.most::text, 'null'));
    end if;
    return query
    select h.* from leasehold.schedules s
     cross join lateral (select t.* from leasehold.schedule_history t where t.schedule_id = s.id order by t.id desc limit list_latest_ticks.most) h
     order by s.name, h.id desc;
end
$$;
