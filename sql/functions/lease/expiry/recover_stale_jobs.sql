-- Purpose     Take back, by hand, every job whose lease has run out or whose owner has not renewed it for `minutes`.
-- Parameters  minutes: more than none, up to 100 years · worker: id, name or incarnation, or a beginning that only one has: only its
-- Returns     how many were taken back
-- Errors      LH001 minutes out of range, or several living workers are meant · LH002 there is no such worker
-- Tables      as reap_jobs
create or replace function leasehold.recover_stale_jobs(minutes numeric, worker text default null) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
declare
    v_worker uuid := case when recover_stale_jobs.worker is not null then leasehold.find_worker(recover_stale_jobs.worker) end;
    v_batch  integer;
    v_total  integer := 0;
begin
    if minutes is null or minutes <= 0 or minutes > leasehold.longest_time() / 60 then -- NaN is more than any number
        raise exception using errcode = 'LH001', message = format(
            'minutes must be more than 0 and at most %s (100 years), not %s',
            leasehold.longest_time() / 60, coalesce(left(minutes::text, 40), 'null'));
    end if;
    loop
        select count(*) into v_batch
          from leasehold.reap_jobs(1000, make_interval(secs => (minutes * 60)::double precision), worker => v_worker);
        v_total := v_total + v_batch;
        exit when v_batch < 1000;
    end loop;
    return v_total;
end
$$;
