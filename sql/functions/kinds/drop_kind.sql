-- Purpose     Take a kind out of the catalogue, which no app has any more. A worker that still has it declares it anew when it starts.
-- Parameters  kind
-- Returns     whether it was there
-- Errors      LH004 it is in use: live workers serve it, or jobs that have not ended or schedules are of it
-- Tables      an advisory lock, workers, jobs, schedules (read), kind_versions and kinds (delete)
create or replace function leasehold.drop_kind(kind text) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_use text;
begin
    perform pg_advisory_xact_lock(hashtextextended('leasehold kinds', 0));
    v_use := coalesce(
        (select format('worker %s serves it', w.worker_id) from leasehold.workers w
          where (drop_kind.kind = any (w.kinds)
                 or w.kinds = '{}' and exists (select from leasehold.kinds k where k.kind = drop_kind.kind and k.app_version = coalesce(w.app_version, '')))
            and leasehold.is_alive(w, leasehold.clock()) limit 1),
        (select format('job %s has not ended', j.id) from leasehold.jobs j where j.kind = drop_kind.kind limit 1),
        (select format('schedule %L makes jobs of it', s.name) from leasehold.schedules s where s.kind = drop_kind.kind limit 1));
    if v_use is not null then
        raise exception using errcode = 'LH004', message = format('kind %L is in use: %s', drop_kind.kind, v_use),
            hint = 'a kind is dropped when no live worker, no open job and no schedule has it';
    end if;
    delete from leasehold.kind_versions v where v.kind = drop_kind.kind;
    delete from leasehold.kinds k where k.kind = drop_kind.kind;
    return found;
end
$$;
