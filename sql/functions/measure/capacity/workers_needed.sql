-- Purpose     Calculate how many workers finish the work of a queue in a given number of hours, while jobs go on
--             coming as they do now.
-- Parameters  queue: which · hours: in which time
-- Returns     workers like the active ones (of three slots where there are none); 0 where nothing is to be done; null where no
--             job of the queue has ended within the last hour, so that nobody knows how long one takes
-- Errors      LH001 hours out of range
-- Tables      as get_capacity
create or replace function leasehold.workers_needed(queue text, hours double precision default 1) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
begin
    if workers_needed.hours > 0 is not true or workers_needed.hours > 87600 then
        raise exception using errcode = 'LH001', message = format('hours must be above 0 and at most 87600, not %s', coalesce(hours::text, 'null'));
    end if;
    return nullif(coalesce((
        select case when c.pending = 0 and c.arrivals_per_second = 0 then 0
                    when c.jobs_per_worker_hour is not null
                    then least(2147483647, ceil((c.pending / workers_needed.hours + 3600 * c.arrivals_per_second) / c.jobs_per_worker_hour))
                    else -1 end
          from leasehold.get_capacity(workers_needed.queue) c), 0), -1);
end
$$;
