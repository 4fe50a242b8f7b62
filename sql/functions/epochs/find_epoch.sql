-- Purpose     Tell in which epoch the database is, for processes that connect to it. An epoch is a stretch of one history: it ends
--             when a standby is promoted, when the database is restored, or when it stands before a place that the caller has
--             seen. Then a new one begins here, before anybody is given an id of it.
-- Parameters  known: the epoch that the caller knows; null: none yet · seen: the last position that it was told in it
-- Returns     epoch: its number · position: bytes of history that are safe on disk · timeline; null where Postgres does not tell.
--             No row on a standby
-- Errors      none
-- Tables      epochs (read), and where one begins as start_epoch
create or replace function leasehold.find_epoch(known bigint default null, seen bigint default null)
returns table (epoch bigint, "position" bigint, timeline bigint) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_now      bigint := pg_sequence_last_value('leasehold.epochs_id_seq');
    v_position bigint;
    v_row      leasehold.epochs;
    v_is_elsewhere boolean;
begin
    if pg_is_in_recovery() then
        return;
    end if;
    if not leasehold.is_epoch_over(null) and pg_sequence_last_value('leasehold.epochs_mark_seq') > 1 then
        v_position := (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::bigint;
    end if;
    select * into v_row from leasehold.epochs e where e.id = v_now;
    v_is_elsewhere := coalesce(v_row.system_identifier <> leasehold.read_system(), false)
        or coalesce(v_row.database_oid <> (select d.oid::bigint from pg_database d where d.datname = current_database()), false)
        or coalesce(v_now = find_epoch.known and v_position < find_epoch.seen, false);
    if v_is_elsewhere or leasehold.is_epoch_over(null) then
        perform leasehold.start_epoch(v_now, v_is_elsewhere);
    elsif v_row.id is null and pg_try_advisory_xact_lock(7813308923470) then
        -- It began in a transaction that was rolled back; where that is still open, it holds the lock.
        perform leasehold.write_epoch(null, null);
    end if;
    epoch := pg_sequence_last_value('leasehold.epochs_id_seq');
    position := v_position;
    timeline := nullif(pg_sequence_last_value('leasehold.epochs_mark_seq') >> 32, 0);
    return next;
end
$$;
