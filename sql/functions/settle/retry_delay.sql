-- Purpose     Calculate how long to wait before the next attempt: exponential back-off with full jitter, so that jobs
--             which failed together do not come back together.
-- Parameters  attempt: the one that failed, counted from 1 without spared ones · initial, cap: seconds · multiplier
-- Returns     seconds, evenly spread between 0 and min(cap, initial × multiplier^(attempt − 1))
-- Errors      none
-- Tables      none
-- Source      Marc Brooker, "Exponential Backoff And Jitter" (full jitter)
create or replace function leasehold.retry_delay(
    attempt integer, initial double precision default 10, multiplier double precision default 2, cap double precision default 300
) returns double precision language sql volatile parallel safe as $$
select random() * least(coalesce(cap, 300),
                      coalesce(initial, 10) * power(least(greatest(coalesce(multiplier, 2), 1), 1000), least(greatest(attempt, 1) - 1, 60)))
$$;
