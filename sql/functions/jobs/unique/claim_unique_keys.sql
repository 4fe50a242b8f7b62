-- Purpose     Take unique keys that nobody has, and lock the others until this transaction ends. The index of
--             unique_jobs decides who is first. Keys are taken and locked in their own order, so that callers with
--             many of them wait for each other instead of deadlocking.
-- Parameters  unique_keys, job_ids: each key once, with the job that takes it · at: the time
-- Returns     each key with the job that has it now, since when, and whether that is the one given
-- Errors      none
-- Tables      unique_jobs (insert, row locks; in key order)
create or replace function leasehold.claim_unique_keys(unique_keys text[], job_ids bigint[], at timestamptz)
returns table (unique_key text, job_id bigint, since timestamptz, is_mine boolean) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_mine text[];
    v_have integer;
begin
    loop
        with taken as (
            insert into leasehold.unique_jobs (unique_key, job_id, created_at)
            select k.unique_key, k.job_id, claim_unique_keys.at
              from unnest(claim_unique_keys.unique_keys, claim_unique_keys.job_ids) k(unique_key, job_id) order by k.unique_key collate "C"
            on conflict do nothing
            returning unique_key
        )
        select v_mine || array_agg(t.unique_key) into v_mine from taken t;
        -- A statement of its own, which sees what others committed while the one above waited for them.
        perform from leasehold.unique_jobs u where u.unique_key = any (claim_unique_keys.unique_keys) order by u.unique_key for update;
        get diagnostics v_have = row_count;
        exit when v_have = cardinality(claim_unique_keys.unique_keys);  -- else the janitor forgot one in between
    end loop;
    return query
    select u.unique_key, u.job_id, u.created_at, coalesce(u.unique_key = any (v_mine), false)
      from leasehold.unique_jobs u where u.unique_key = any (claim_unique_keys.unique_keys);
end
$$;
