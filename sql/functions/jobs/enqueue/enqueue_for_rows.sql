-- Purpose     Enqueue now the jobs of a schedule for some rows of its query: those whose job has this in its metadata, has one of
--             these keys. The query is whoever's made the schedule; the caller only narrows it. The ticks and the history of the
--             schedule stay as they are, and it may be disabled: then it only says what there are jobs about.
-- Parameters  schedule: its name, or its id · metadata: what a row's column metadata, over that of the schedule, has (jsonb @>)
--             keys: only these · after_key: only later ones in byte order (the last one of the call before)
--             batch: how many keys at the most, 1 to 10000 · dry_run: only tell the keys
--             job: object with priority, max_attempts, timeout, deadline or unique, instead of those of the rows and the schedule
--             notify: as enqueue_jobs
-- Returns     each job's key with what enqueue_jobs answers, by key; nulls in a dry run
-- Errors      LH001 batch out of range, the schedule has no query, its query fails or gives a row without key, no row has such
--             metadata, a job is refused · LH002 there is no such schedule · LH006 a unique job is there already
-- Tables      those of the query, schedules (read), as enqueue_jobs
create or replace function leasehold.enqueue_for_rows(
    schedule text, metadata jsonb default null, keys text[] default null, after_key text default null, batch integer default 1000,
    dry_run boolean default false, job jsonb default null, notify boolean default true
) returns table (key text, job_id bigint, is_new boolean, outcome text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    s       leasehold.schedules := leasehold.find_schedule(enqueue_for_rows.schedule);
    v_now   timestamptz := leasehold.clock();
    v_jobs  jsonb[];
    v_own   text := (select min(o) from jsonb_object_keys(enqueue_for_rows.job - '{priority,max_attempts,timeout,deadline,unique}'::text[]) o);
    v_names text[] := array(select jsonb_object_keys(enqueue_for_rows.metadata));
begin
    if coalesce(enqueue_for_rows.batch, 0) not between 1 and 10000 then
        raise exception using errcode = 'LH001', message = format('batch must be from 1 to 10000, not %s', coalesce(enqueue_for_rows.batch::text, 'null'));
    elsif s.query is null then
        raise exception using errcode = 'LH001', message = format('schedule %L has no query', s.name), hint = 'trigger it: it makes one job';
    elsif v_own is not null then
        raise exception using errcode = 'LH001', message = format('a job for each row has no %s of its own', v_own);
    end if;
    v_jobs := leasehold.make_tick_jobs(s, v_now, array(select leasehold.read_schedule_rows(s.query, s.query_rows)), v_now, 0, null);
    if exists (select from unnest(v_jobs) j(doc) where j.doc ->> 'key' is null) then
        raise exception using errcode = 'LH001', message = format('the query of schedule %L gives a row without key', s.name),
            hint = 'have it select a key: what the job is about';
    elsif v_jobs <> '{}' and v_names <> '{}' and not exists (select from unnest(v_jobs) j(doc) where j.doc -> 'metadata' ?& v_names) then
        raise exception using errcode = 'LH001', message = format('no row of schedule %L has %s in its metadata', s.name, array_to_string(v_names, ', ')),
            hint = format('have its query select jsonb_build_object(%L, …) as metadata', v_names[1]);
    end if;
    v_jobs := array(select f.doc || coalesce(enqueue_for_rows.job, '{}')
                      from (select j.doc, j.place, dense_rank() over (order by j.doc ->> 'key' collate "C") as number
                              from unnest(v_jobs) with ordinality j(doc, place)
                             where (enqueue_for_rows.metadata is null or j.doc -> 'metadata' @> enqueue_for_rows.metadata)
                               and (enqueue_for_rows.keys is null or j.doc ->> 'key' = any (enqueue_for_rows.keys))
                               and (enqueue_for_rows.after_key is null or j.doc ->> 'key' collate "C" > enqueue_for_rows.after_key)) f
                     where f.number <= enqueue_for_rows.batch order by f.number, f.place);
    if enqueue_for_rows.dry_run then
        return query select u.doc ->> 'key', null::bigint, null::boolean, null::text from unnest(v_jobs) with ordinality u(doc, place) order by u.place;
    elsif v_jobs <> '{}' then
        return query
        select v_jobs[e.place] ->> 'key', e.job_id, e.is_new, e.outcome
          from leasehold.enqueue_jobs(to_jsonb(v_jobs), enqueue_for_rows.notify) with ordinality e(job_id, is_new, outcome, place) order by e.place;
    end if;
end
$$;
