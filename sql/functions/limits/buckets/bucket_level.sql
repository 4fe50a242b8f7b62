-- Purpose     Calculate how many tokens a bucket holds at a time. It fills steadily, up to its burst. No other
--             function calculates it.
-- Parameters  tokens, filled_at: of its row; null where it has none, which is a full one · rate: tokens a second
--             burst: the brim · at: the time; one before filled_at counts as filled_at
-- Returns     tokens; a whole one lets one job start (a millionth less will do, for what floating point rounds away)
-- Errors      none
-- Tables      none
create or replace function leasehold.bucket_level(
    tokens double precision, filled_at timestamptz, rate double precision, burst integer, at timestamptz
) returns double precision language sql immutable parallel safe as $$
select coalesce(least($4, $1 + greatest(0, extract(epoch from $5 - $2))::double precision * $3), $4)
$$;
