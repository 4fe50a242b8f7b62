-- Purpose     Tell how many workers a queue should have now, as one number for a scaler (KEDA): enough to start what
--             is ready within target_wait, and to keep up with arrivals so that 95 of 100 jobs start within it.
-- Parameters  queue: which · target_wait: how long a job may wait for a slot · min_workers, max_workers: never less, never more
--             current_workers: how many there are; with it, fewer are asked for only if hysteresis (a share of them) fewer do,
--             so that the number does not swing · slots: of one worker (those of the active ones, else 3)
-- Returns     a number of workers, never null. Where nobody knows how long a job takes: 1 if there is anything to do
-- Errors      LH001 a parameter is out of range
-- Tables      as get_capacity, limits (read: more slots than may run at once are no use)
create or replace function leasehold.desired_workers(
    queue text, target_wait interval default '30 seconds', min_workers integer default 0, max_workers integer default 1000,
    current_workers integer default null, hysteresis double precision default 0.1, slots integer default null
) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_variable
declare
    v_wait  double precision := date_part('epoch', target_wait);
    v_most  integer := (select l.max_running from leasehold.limits l where l.queue = desired_workers.queue and l.key_group = '');
    v_has   leasehold.v_worker_capacity;
    v_load  double precision;
    v_slots double precision;
    v_found integer;
begin
    if v_wait > 0 is not true or (min_workers >= 0 and max_workers >= min_workers) is not true or slots < 1 or current_workers < 0
       or (hysteresis >= 0 and hysteresis < 1) is not true then
        raise exception using errcode = 'LH001',
            message = 'target_wait must be above 0, min_workers 0 or more, max_workers not less, slots 1 or more, hysteresis from 0 to below 1';
    end if;
    select c.* into v_has from leasehold.get_capacity(desired_workers.queue) c;
    if v_has.avg_seconds is null then
        v_slots := (coalesce(v_has.ready + v_has.claimed + v_has.running + ceil(v_has.arrivals_per_second), 0) > 0)::integer;
    else
        v_load := v_has.arrivals_per_second * v_has.avg_seconds;
        v_slots := greatest(leasehold.desired_slots(v_load, coalesce(v_has.run_variation, 1), v_wait / greatest(v_has.avg_seconds, 1e-6), 0.95),
                            least(ceil(v_load + v_has.ready * v_has.avg_seconds / v_wait), v_has.ready + v_has.claimed + v_has.running));
    end if;
    v_found := least(max_workers, ceil(least(v_slots, v_most) / coalesce(slots, v_has.slots_per_worker, 3)));
    if v_found < current_workers and v_found >= current_workers * (1 - hysteresis) then
        v_found := current_workers;
    end if;
    return greatest(min_workers, least(max_workers, v_found));
end
$$;
