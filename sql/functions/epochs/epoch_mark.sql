-- Purpose     Compute the mark of the history that this server writes now: its timeline, which a promotion or a recovery to an
--             earlier point changes, and the number of the table of jobs, which a restored dump changes. Every hot function
--             compares it, so it costs a microsecond and reads no table. Fails on a standby.
-- Parameters  none
-- Returns     a number above 2^32
-- Errors      none
-- Tables      none
create or replace function leasehold.epoch_mark() returns bigint
language sql volatile parallel safe as $$
select (('x' || pg_catalog."left"(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))::bit(32)::bigint << 32)
       | 'leasehold.jobs'::pg_catalog.regclass::oid::bigint
$$;
