-- Purpose     Begin an epoch, unless somebody else has just begun it: move the ids of jobs so far ahead that none which the
--             lost history gave out is given out again, then number the epoch, then note the mark. All three are sequences, so
--             that they hold at once for everybody, even where the caller's transaction is open for long or rolls back.
-- Parameters  former: the epoch that the caller found to be over; null: there was none
--             is_elsewhere: found so by other signs than is_epoch_over
-- Returns     nothing
-- Errors      none
-- Tables      advisory lock of epochs (waits only for whoever begins this epoch, not for the end of its transaction), sequences
--             of epochs and jobs, jobs and finished_jobs (read: their greatest ids), as write_epoch
create or replace function leasehold.start_epoch(former bigint, is_elsewhere boolean default false) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    c_skipped constant bigint := 1000000000;
    v_mark    bigint;
    v_last    bigint;
    v_next    bigint;
begin
    while not pg_try_advisory_xact_lock(7813308923470) loop
        perform pg_sleep(0.002);
        if not leasehold.is_epoch_over(null)
           and (not start_epoch.is_elsewhere or pg_sequence_last_value('leasehold.epochs_id_seq') is distinct from start_epoch.former) then
            return;
        end if;
    end loop;
    if not leasehold.is_epoch_over(null)
           and (not start_epoch.is_elsewhere or pg_sequence_last_value('leasehold.epochs_id_seq') is distinct from start_epoch.former) then
        return;
    end if;
    begin
        v_mark := leasehold.epoch_mark();
    exception when feature_not_supported or insufficient_privilege or undefined_function then
        v_mark := 1;
    end;
    if start_epoch.former is not null or exists (select from leasehold.epochs) then
        v_last := greatest(pg_sequence_last_value('leasehold.jobs_id_seq'), (select max(j.id) from leasehold.jobs j),
                           (select max(f.id) from leasehold.finished_jobs f), 0);
        v_next := v_last + least(c_skipped, (9223372036854775806 - v_last) / 2);
        perform setval('leasehold.jobs_id_seq', greatest(v_next, 1));
    end if;
    -- Numbers that are drawn, not counted: two servers that were promoted from the same history must not have the same ones. They
    -- stay below 2^52, so that JSON carries them.
    perform setval('leasehold.epochs_id_seq', ('x' || substr(md5(gen_random_uuid()::text), 1, 13))::bit(52)::bigint + 1);
    perform setval('leasehold.epochs_mark_seq', v_mark);
    perform leasehold.write_epoch(v_last, v_next);
end
$$;
