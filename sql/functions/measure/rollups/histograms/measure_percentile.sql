-- Purpose     Estimate a percentile of the times in a histogram. Within a bucket times are taken to be spread evenly,
--             so the answer is off by a factor of two at most, and usually by far less.
-- Parameters  histogram: 29 counts · share: 0.95 for the 95th percentile
-- Returns     seconds; null where nothing was counted. What lies beyond the last bound is taken for that bound.
-- Errors      none
-- Tables      none
create or replace function leasehold.measure_percentile(histogram bigint[], share double precision) returns double precision
language plpgsql immutable parallel safe
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_bounds double precision[];
    v_wanted double precision := 0;
    v_before bigint := 0;
    v_jobs   bigint;
begin
    if measure_percentile.histogram is null then
        return null;
    end if;
    foreach v_jobs in array measure_percentile.histogram loop
        v_wanted := v_wanted + coalesce(v_jobs, 0);
    end loop;
    v_wanted := measure_percentile.share * v_wanted;
    for v_bucket in 1 .. 29 loop
        v_jobs := measure_percentile.histogram[v_bucket];
        if v_jobs > 0 and v_before + v_jobs >= v_wanted then
            v_bounds := leasehold.bucket_bounds();
            if v_bucket = 29 then
                return v_bounds[28];
            end if;
            return coalesce(v_bounds[v_bucket - 1], 0) + (v_bounds[v_bucket] - coalesce(v_bounds[v_bucket - 1], 0))
                   * greatest(0, (v_wanted - v_before) / v_jobs);
        end if;
        v_before := v_before + coalesce(v_jobs, 0);
    end loop;
    return null;
end
$$;
