-- Purpose     Tell whether an epoch is over: this server writes another history than when the present one began, so that ids and
--             attempts may have been given out that it knows nothing of, or the present one is not the one that is asked about.
-- Parameters  known: the epoch that is asked about; null: the present one
-- Returns     true or false; false on a standby, and for the present one where Postgres does not tell its timeline (the mark is 1)
-- Errors      none
-- Tables      none (sequences of epochs)
create or replace function leasehold.is_epoch_over(known bigint) returns boolean
language sql volatile parallel safe as $$
select case when pg_catalog.pg_is_in_recovery() then false
            when $1 is not null and coalesce(pg_catalog.pg_sequence_last_value('leasehold.epochs_id_seq') <> $1, false) then true
            else case coalesce(pg_catalog.pg_sequence_last_value('leasehold.epochs_mark_seq'), 0)
                      when 0 then true when 1 then false when leasehold.epoch_mark() then false else true end end
$$;
