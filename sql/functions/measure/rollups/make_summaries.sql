-- Purpose     Have Postgres note which pages hold which times, for what was written since the last call. Without
--             this, the pages written since are all read for every minute. What somebody else uses is left for the
--             next call.
-- Parameters  none
-- Returns     how many page ranges were noted
-- Errors      none; without the rights of the owner nothing is done, and autovacuum does it some time later
-- Tables      the BRIN indexes of today's and yesterday's partitions of finished_jobs and job_events
create or replace function leasehold.make_summaries() returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '200ms' as $$
declare
    v_today date := leasehold.clock()::date;
    v_made  integer := 0;
    v_index regclass;
begin
    for v_index in
        select i.indexrelid
          from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam join pg_class t on t.oid = i.indrelid
         where a.amname = 'brin' and t.relnamespace = 'leasehold'::regnamespace and t.relkind = 'r'
           and (t.relname like E'%\\_default'
                or t.relname in (select p.name from leasehold.list_partitions() p where p.since <= v_today and p.until >= v_today))
    loop
        begin
            v_made := v_made + brin_summarize_new_values(v_index);
        exception when insufficient_privilege or lock_not_available then null;
        end;
    end loop;
    return v_made;
end
$$;
