-- Purpose     Let workers take turns at looking for leases that have run out, so that a fleet of any size looks about as
--             often as one reaper. A round of a reaper counts as a turn, so where there are reapers no worker looks.
-- Parameters  every: false if somebody had a turn since
-- Returns     whether it is the caller's turn
-- Errors      none
-- Tables      reap_turns (one row; left as it is where somebody else has it), where it also notes that the clock was set back
create or replace function leasehold.take_reap_turn(every interval) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
begin
    -- A turn that lies in the future was taken before the clock was set back.
    if exists (select from leasehold.reap_turns t where t.taken_at > v_now - take_reap_turn.every and t.taken_at <= v_now) then
        return false;
    end if;
    if not exists (select from leasehold.reap_turns) then
        -- The insert would wait for whoever is just making the row.
        if not pg_try_advisory_xact_lock(hashtextextended('leasehold reap turn', 0)) then
            return false;
        end if;
        insert into leasehold.reap_turns (taken_at) values (v_now) on conflict do nothing;
        return found;
    end if;
    -- Asked anew, since this process may have stood still since it asked first.
    update leasehold.reap_turns t
       set taken_at = v_now,
           set_back_at = case when t.taken_at > leasehold.clock() + interval '1 second' then v_now else t.set_back_at end,
           set_back_by = case when t.taken_at > leasehold.clock() + interval '1 second' then t.taken_at - v_now else t.set_back_by end
     where t.is_one = (select f.is_one from leasehold.reap_turns f
                        where f.taken_at <= v_now - take_reap_turn.every or f.taken_at > v_now for no key update skip locked);
    return found;
end
$$;
