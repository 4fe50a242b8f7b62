-- Purpose     Remove what outlived jobs that drop_old_partitions has removed: their idempotency keys, unique keys, edges
--             and progress. What belongs to a job that is still there, however old, stays: a repeated enqueue must find
--             a job that is scheduled for next month. Goes through the jobs by id, a batch in each call, so that no
--             transaction is long and whoever calls may stop between two calls.
-- Parameters  keep_days: at least 1 · after_id: go on behind this job; 0 to begin · batch: how many rows of a table to look at
-- Returns     how many rows were removed, and the id to go on behind (null: that was the last)
-- Errors      LH001 keep_days out of range
-- Tables      jobs, finished_jobs, id_marks (read); unique_jobs, unique_claims, idempotency_keys, job_blockers, job_progress
--             (rows deleted, locked ones skipped)
create or replace function leasehold.drop_rows_of_old_jobs(keep_days integer, after_id bigint default 0, batch integer default 2000)
returns table (dropped bigint, last_id bigint) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_limit timestamptz := leasehold.clock()::date - least(drop_rows_of_old_jobs.keep_days, 36500);
    v_end   bigint;
    v_last  bigint;
    v_ids   bigint[];
    v_keys  text[];
    v_count bigint;
begin
    if drop_rows_of_old_jobs.keep_days is null or keep_days < 1 then
        raise exception using errcode = 'LH001', message = format('keep_days must be 1 or more, not %s', coalesce(keep_days::text, 'null'));
    end if;
    -- Not before the partition goes that has the jobs, and it may have several days.
    v_limit := least(v_limit, (select min(p.since) from leasehold.list_partitions() p where p.parent = 'finished_jobs'));
    v_end := coalesce((select min(m.last_id) from leasehold.id_marks m where m.taken_at >= v_limit), 9223372036854775807);
    -- As far as the table goes that has most rows.
    v_last := least(
        (select max(b.job_id) from (select k.job_id from leasehold.idempotency_keys k where k.job_id > drop_rows_of_old_jobs.after_id and k.job_id <= v_end
                                     order by k.job_id limit drop_rows_of_old_jobs.batch) b having count(*) = drop_rows_of_old_jobs.batch),
        (select max(b.job_id) from (select u.job_id from leasehold.unique_claims u where u.job_id > drop_rows_of_old_jobs.after_id and u.job_id <= v_end
                                     order by u.job_id limit drop_rows_of_old_jobs.batch) b having count(*) = drop_rows_of_old_jobs.batch),
        (select max(b.job_id) from (select e.job_id from leasehold.job_blockers e where e.job_id > drop_rows_of_old_jobs.after_id and e.job_id <= v_end
                                     order by e.job_id limit drop_rows_of_old_jobs.batch) b having count(*) = drop_rows_of_old_jobs.batch),
        (select max(b.job_id) from (select p.job_id from leasehold.job_progress p where p.job_id > drop_rows_of_old_jobs.after_id and p.job_id <= v_end
                                     order by p.job_id limit drop_rows_of_old_jobs.batch) b having count(*) = drop_rows_of_old_jobs.batch));
    v_end := coalesce(v_last, v_end);
    v_ids := array(select k.job_id from leasehold.idempotency_keys k where k.job_id > drop_rows_of_old_jobs.after_id and k.job_id <= v_end and k.created_at < v_limit
                   union select u.job_id from leasehold.unique_claims u where u.job_id > drop_rows_of_old_jobs.after_id and u.job_id <= v_end and u.created_at < v_limit
                   union select e.job_id from leasehold.job_blockers e where e.job_id > drop_rows_of_old_jobs.after_id and e.job_id <= v_end
                                                                         and coalesce(e.closed_at < v_limit, true)
                   union select p.job_id from leasehold.job_progress p where p.job_id > drop_rows_of_old_jobs.after_id and p.job_id <= v_end and p.at < v_limit
                   order by 1);
    -- A chain keeps what belongs to its first job.
    v_ids := array(select i.id from unnest(v_ids) i(id)
                   except select j.id from leasehold.jobs j where j.id = any (v_ids)
                   except select j.chain_id from leasehold.jobs j where j.chain_id = any (v_ids)
                   except select f.id from leasehold.finished_jobs f where f.id = any (v_ids)
                   except select f.chain_id from leasehold.finished_jobs f where f.chain_id = any (v_ids));
    dropped := 0;
    last_id := v_last;
    if v_ids <> '{}' then
        delete from leasehold.idempotency_keys k
         where k.ctid = any (array(select o.ctid from leasehold.idempotency_keys o where o.job_id = any (v_ids) and o.created_at < v_limit for update skip locked));
        get diagnostics v_count = row_count;
        dropped := dropped + v_count;
        v_keys := array(select u.unique_key from leasehold.unique_claims c join leasehold.unique_jobs u on u.unique_key = c.unique_key and u.job_id = c.job_id
                         where c.job_id = any (v_ids) and c.created_at < v_limit for update of u skip locked);
        delete from leasehold.unique_jobs u where u.unique_key = any (v_keys) and u.job_id = any (v_ids);
        get diagnostics v_count = row_count;
        dropped := dropped + v_count;
        delete from leasehold.unique_claims c
         where c.job_id = any (v_ids) and c.created_at < v_limit
           and not exists (select from leasehold.unique_jobs u where u.unique_key = c.unique_key and u.job_id = c.job_id);
        get diagnostics v_count = row_count;
        dropped := dropped + v_count;
        delete from leasehold.job_blockers e where e.job_id = any (v_ids) and coalesce(e.closed_at < v_limit, true);
        get diagnostics v_count = row_count;
        dropped := dropped + v_count;
        delete from leasehold.job_progress p where p.job_id = any (v_ids) and p.at < v_limit;
        get diagnostics v_count = row_count;
        dropped := dropped + v_count;
    end if;
    return next;
end
$$;
