-- Purpose     Add histograms up, bucket by bucket.
-- Parameters  histograms: any number of them as one array of two dimensions, as array_agg makes it
-- Returns     29 counts
-- Errors      none
-- Tables      none
create or replace function leasehold.add_histograms(histograms bigint[]) returns bigint[]
language plpgsql immutable parallel safe
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_sums  bigint[] := array_fill(0::bigint, array[29]);
    v_index integer := 0;
    v_jobs  bigint;
begin
    if add_histograms.histograms is null then
        return v_sums;
    end if;
    foreach v_jobs in array add_histograms.histograms loop
        if v_jobs <> 0 then
            v_sums[1 + v_index % 29] := v_sums[1 + v_index % 29] + v_jobs;
        end if;
        v_index := v_index + 1;
    end loop;
    return v_sums;
end
$$;
