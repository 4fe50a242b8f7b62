-- Purpose     Tell whether the caller may not change a job that this login made. A login may change its own jobs, those of
--             logins that it is a member of, and all jobs if it may call cancel_job. Where no roles are in force everybody may.
-- Parameters  made_by: the login that made the job
-- Returns     true: the caller must leave it alone
-- Errors      none
-- Tables      none of leasehold's
create or replace function leasehold.is_stranger(made_by text) returns boolean language sql stable
set search_path = leasehold, pg_catalog, pg_temp as $$
select is_stranger.made_by <> session_user
   and not exists (select from pg_proc p where p.pronamespace = 'leasehold'::regnamespace and p.proname = 'cancel_job'
                      and has_function_privilege(session_user, p.oid, 'execute'))
   and not exists (select from pg_roles r where r.rolname = is_stranger.made_by and pg_has_role(session_user, r.oid, 'member'))
$$;
