-- Purpose     End the sessions that keep reapers from jobs whose lease has run out, so that a machine that vanished in the
--             middle of a transaction gives its jobs back without waiting for TCP. What the session wrote is undone, and if
--             its process lives, that process is told at its next statement. A session that began its transaction less than
--             `grace` ago is left alone: it may be a reaper, or a person who looks into it.
-- Parameters  grace: how long after the end of a lease, and after the beginning of the transaction; null: end none
-- Returns     as list_stuck_leases, one row for each job and session; is_ended; problem: why it could not be ended, else null
-- Errors      none
-- Tables      as list_stuck_leases. To end a session takes its role, or membership in pg_signal_backend
create or replace function leasehold.stop_lost_sessions(grace interval default '5 seconds')
returns table (job_id bigint, pid integer, explanation text, is_ended boolean, problem text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    c_patience constant bigint := 1000;
    v_limit   timestamptz := leasehold.clock() - stop_lost_sessions.grace;
    v_stuck   record;
begin
    for v_stuck in
        select s.pid, s.since, min(s.lease_expires_at) as expired_at, array_agg(s.job_id) as job_ids, array_agg(s.explanation) as explanations,
               substring(s.application_name from 'prepared transaction (.*)') as gid
          from leasehold.list_stuck_leases() s group by s.pid, s.since, s.application_name order by s.pid
    loop
        is_ended := false;
        problem := null;
        if v_stuck.pid is null then
            problem := format('a prepared transaction has no session: ROLLBACK PREPARED %1$L, or COMMIT PREPARED %1$L if that was decided', v_stuck.gid);
        elsif v_stuck.expired_at <= v_limit and coalesce(v_stuck.since, '-infinity') <= v_limit then
            begin
                is_ended := pg_terminate_backend(v_stuck.pid, c_patience);
                problem := case when not is_ended then 'it was told to end and has not yet' end;
            exception when insufficient_privilege then
                problem := format('role %s may not end it: grant pg_signal_backend to %1$s', quote_ident(current_user));
            end;
        end if;
        return query select u.job_id, v_stuck.pid, u.explanation, is_ended, problem from unnest(v_stuck.job_ids, v_stuck.explanations) u(job_id, explanation);
    end loop;
end
$$;
