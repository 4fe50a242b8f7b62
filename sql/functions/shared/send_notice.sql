-- Purpose     Notify those who listen, when the caller's transaction commits, unless the queue of notifications is nine
--             tenths full: somebody who listens has stopped reading, and in a full queue every commit with a
--             notification fails. Notices are hints, so one that is left out costs a poll; a commit that fails is a loss. A
--             transaction that said `set local leasehold.notify = off` sends none: Postgres can prepare it.
-- Parameters  notice: the payload
-- Returns     a value that is not null where it was sent, so that callers can count
-- Errors      none
-- Tables      none
create or replace function leasehold.send_notice(notice text) returns void
language sql volatile as $$
select case when pg_catalog.current_setting('leasehold.notify', true) is distinct from 'off' and pg_catalog.pg_notification_queue_usage() < 0.9
            then pg_catalog.pg_notify('leasehold', notice) end
$$;
