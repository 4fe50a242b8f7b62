-- Purpose     Calculate how long to wait before the next attempt: exponential back-off with full jitter, so that jobs
--             which failed together do not come back together; or, with a step, linear back-off without any.
-- Parameters  attempt: the one that failed, counted from 1 without spared ones · initial, cap: seconds · multiplier
--             step: seconds by which each wait is longer than the one before, instead of initial and multiplier; null: exponential
-- Returns     seconds, evenly spread between 0 and min(cap, initial × multiplier^(attempt − 1)); with a step min(cap, step × attempt)
-- Errors      none
-- Tables      none
-- Source      Marc Brooker, "Exponential Backoff And Jitter" (full jitter)
create or replace function leasehold.retry_delay(
    attempt integer, initial double precision default 10, multiplier double precision default 2, cap double precision default 300,
    step double precision default null
) returns double precision language sql volatile parallel safe as $$
select case when step is not null then least(coalesce(cap, 300), step * greatest(attempt, 1))
            else random() * least(coalesce(cap, 300),
                      coalesce(initial, 10) * power(least(greatest(coalesce(multiplier, 2), 1), 1000), least(greatest(attempt, 1) - 1, 60))) end
$$;
