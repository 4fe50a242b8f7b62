-- Purpose     Write the rollups of the minutes that are over; each finished job is read once. A minute is closed when
--             every transaction that might have written into it has ended, or two minutes after its end; in the
--             second case it is written again when they have. Repeating it changes nothing, and it may be interrupted
--             anywhere. Of several calls at once one works.
-- Parameters  none
-- Returns     how many minutes were written; null where somebody else is at it
-- Errors      none
-- Tables      an advisory lock, rollup_marks, rollup_progress, rollups and rollup_totals as write_minutes and add_rollups
create or replace function leasehold.close_minutes() returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
declare
    c_timed    constant bigint := 200000;  -- of more jobs than that, a sample is timed: a percent of precision more would cost seconds
    c_most     constant bigint := 10000;
    v_now      timestamptz := leasehold.clock();
    v_was      leasehold.rollup_progress;
    v_sound    timestamptz;
    v_from     timestamptz;
    v_until    timestamptz;
    v_final    timestamptz;
    v_is_again boolean;
    v_last_id  bigint;
    v_next_id  bigint;
    v_every    bigint;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('leasehold accountant', 0)) then
        return null;
    end if;
    -- Whoever has a number by now has a smaller one than we. Jobs get their times before their transaction gets its number: that
    -- takes less than a second, hence "- 1 s" below.
    insert into leasehold.rollup_marks (taken_at, horizon, last_id)
    select v_now, pg_current_xact_id(), s.last_value - (not s.is_called)::integer from leasehold.jobs_id_seq s
    on conflict (taken_at) do update set horizon = excluded.horizon, last_id = excluded.last_id
    returning last_id into v_next_id;
    select date_bin('1 minute', max(m.taken_at) - interval '1 s', 'epoch') into v_sound
      from leasehold.rollup_marks m where m.horizon <= pg_snapshot_xmin(pg_current_snapshot());
    select * into v_was from leasehold.rollup_progress;
    if not found then
        v_was := row(date_bin('1 minute', v_now, 'epoch') - interval '1 day', date_bin('1 minute', v_now, 'epoch') - interval '1 day', true);
        insert into leasehold.rollup_progress select v_was.*;
    end if;

    v_until := greatest(v_was.rolled_until, v_sound, date_bin('1 minute', v_now - interval '2 minutes', 'epoch'));
    v_final := greatest(v_was.final_until, v_sound, date_bin('1 minute', v_now - interval '1 day', 'epoch'));
    -- Looking back costs as much as there is to read since then, so not for every minute of a long wait.
    v_is_again := v_was.final_until < v_was.rolled_until and (v_final - v_was.final_until) * 4 >= v_now - v_was.final_until;
    if v_until = v_was.rolled_until and not v_is_again then
        return 0;
    end if;
    v_from := greatest(case when v_is_again then v_was.final_until else v_was.rolled_until end,
                       date_bin('1 minute', v_now - interval '1 day', 'epoch'));
    if v_is_again then
        perform leasehold.add_rollups(v_from, v_until, -1);
        delete from leasehold.rollups r where r.starts_at >= v_from and r.starts_at < v_until;
    end if;
    v_last_id := coalesce((select max(m.last_id) from leasehold.rollup_marks m where m.taken_at <= v_from - interval '5 s'), 0);
    -- Ids that have jumped, since an epoch began or somebody set the sequence, do not tell how many jobs there were.
    v_every := greatest(1, (v_next_id - v_last_id) / c_timed);
    perform leasehold.make_summaries();
    perform leasehold.write_minutes(v_from, v_until, v_last_id, case when v_every > c_most then 1 else v_every end::integer);
    perform leasehold.add_rollups(v_from, v_until, 1);
    if v_is_again or v_was.final_until = v_was.rolled_until then
        v_was.final_until := least(v_final, v_until);
    end if;
    update leasehold.rollup_progress set rolled_until = v_until, final_until = v_was.final_until;
    delete from leasehold.rollup_marks m
     where m.taken_at < (select max(o.taken_at) from leasehold.rollup_marks o where o.taken_at <= v_was.final_until - interval '5 s');
    return date_part('epoch', v_until - v_from) / 60;
end
$$;
