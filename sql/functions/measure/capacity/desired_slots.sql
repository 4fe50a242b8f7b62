-- Purpose     Calculate how many slots keep up with the arrivals of a queue so that a given share of its jobs starts
--             within a given time. The queueing model is that of leasehold.forecast: M/G/c after Erlang C, with the
--             variation of run times after Allen and Cunneen; waiting times of jobs that wait are taken to be
--             exponential.
-- Parameters  load: arrivals a second times seconds of one job · variation: of run times, squared (1: exponential)
--             patience: within which time, in seconds of one job · share: of the jobs, 0.95
-- Returns     a number of slots, above load
-- Errors      LH001 a parameter is null or out of range
-- Tables      none
-- Source      A. O. Allen, Probability, Statistics and Queueing Theory, 2nd edition 1990, section 5.3
create or replace function leasehold.desired_slots(load double precision, variation double precision, patience double precision, share double precision)
returns integer language plpgsql immutable parallel safe
set search_path = leasehold, pg_catalog, pg_temp as $$
declare
    v_slots   integer := 0;
    v_blocked double precision := 1;  -- Erlang B of so many slots
    v_waiting double precision;
begin
    if desired_slots.load is null or (variation between 0 and 'infinity' and patience between 0 and 'infinity' and share >= 0 and share < 1) is not true then
        raise exception using errcode = 'LH001', message = 'load must not be null, variation and patience 0 or more, share from 0 to below 1';
    end if;
    if desired_slots.load <= 0 then
        return 0;
    end if;
    if desired_slots.load > 100000 then
        return least(2147483647, ceil(desired_slots.load + 2 * sqrt(desired_slots.load)));
    end if;
    loop
        v_slots := v_slots + 1;
        v_blocked := load * v_blocked / (v_slots + load * v_blocked);
        continue when v_slots <= load;
        v_waiting := v_slots * v_blocked / (v_slots - load * (1 - v_blocked));
        if v_waiting * exp(greatest(-700, -patience * (v_slots - load) * 2 / (1 + variation))) <= 1 - share then
            return v_slots;
        end if;
    end loop;
end
$$;
