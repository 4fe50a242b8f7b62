-- Purpose     Enqueue one job for each key whose newest matching job is in the given state.
-- Parameters  job: the job to make, as an element of enqueue_jobs without a key · queue, kind, metadata: which jobs to look
--             at: of this queue, this kind, with this in their metadata (jsonb @>) · state: only keys whose newest job among
--             these is in it · keys: only these · after_key: only later ones in byte order (the last one of the call before)
--             batch: how many at the most, 1 to 10000 · dry_run: only tell the keys · notify: as enqueue_jobs
-- Returns     each key with what enqueue_jobs answers; nulls in a dry run
-- Errors      LH001 batch out of range, state unknown, the job refused · LH006 a unique job is there already
-- Tables      jobs, finished_jobs (read), as enqueue_jobs
create or replace function leasehold.enqueue_for_keys(
    job jsonb, queue text default null, kind text default null, metadata jsonb default null, state text default null,
    keys text[] default null, after_key text default null, batch integer default 1000, dry_run boolean default false, notify boolean default true
) returns table (key text, job_id bigint, is_new boolean, outcome text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_keys text[];
begin
    if coalesce(enqueue_for_keys.batch, 0) not between 1 and 10000 then
        raise exception using errcode = 'LH001', message = format('batch must be from 1 to 10000, not %s', coalesce(enqueue_for_keys.batch::text, 'null'));
    end if;
    if enqueue_for_keys.state <> all ('{pending,scheduled,waiting,blocked,claimed,running,completed,failed,cancelled}') then
        raise exception using errcode = 'LH001', message = format('there is no state %L', enqueue_for_keys.state),
            hint = 'states: pending, scheduled, waiting, blocked, claimed, running, completed, failed, cancelled';
    end if;
    if enqueue_for_keys.job ? 'key' or enqueue_for_keys.job ? 'idempotency_key' then
        raise exception using errcode = 'LH001', message = 'a job for each key has neither key nor idempotency_key of its own';
    end if;
    v_keys := array(select n.key
                      from (select distinct on (a.key collate "C") a.key, a.state
                              from leasehold.all_jobs a
                             where a.key is not null
                               and (enqueue_for_keys.queue is null or a.queue = enqueue_for_keys.queue)
                               and (enqueue_for_keys.kind is null or a.kind = enqueue_for_keys.kind)
                               and (enqueue_for_keys.metadata is null or a.metadata @> enqueue_for_keys.metadata)
                               and (enqueue_for_keys.keys is null or a.key = any (enqueue_for_keys.keys))
                               and (enqueue_for_keys.after_key is null or a.key > enqueue_for_keys.after_key)
                             order by a.key collate "C", a.id desc) n
                     where enqueue_for_keys.state is null or n.state = enqueue_for_keys.state
                     order by n.key collate "C" limit enqueue_for_keys.batch);
    if enqueue_for_keys.dry_run then
        return query select u.key, null::bigint, null::boolean, null::text from unnest(v_keys) with ordinality u(key, place) order by u.place;
    elsif v_keys <> '{}' then
        return query
        select k.key, e.job_id, e.is_new, e.outcome
          from leasehold.enqueue_jobs((select jsonb_agg(enqueue_for_keys.job || jsonb_build_object('key', u.key) order by u.place)
                                         from unnest(v_keys) with ordinality u(key, place)), enqueue_for_keys.notify)
               with ordinality e(job_id, is_new, outcome, place)
          join unnest(v_keys) with ordinality k(key, place) on k.place = e.place
         order by k.place;
    end if;
end
$$;
