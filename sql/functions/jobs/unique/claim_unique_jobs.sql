-- Purpose     Decide which new jobs with a `unique` are made. The index of unique_jobs decides, not a look: first the
--             keys are taken or locked; then a statement of its own judges whether the jobs that have them still keep
--             others out. If several jobs of one call have one key, the first decides for all.
-- Parameters  jobs, ids, are_new: as add_jobs has them. A job's unique is an object with
--             by: what makes two jobs the same: kind, queue, key, key_group, args, args.FIELD (kind and args), in any order; numbers
--             are told apart as JSON writes them: 1 is not 1.0
--             key: text that stands for the job instead of by
--             window: seconds; older jobs do not count · states: jobs in other states do not count (all unfinished ones)
--             scope: job, or chain: it counts as long as its chain is open · exclude: chain ids; these do not count
--             on_conflict: existing (answer with the job that is there), reject (LH006), replace (give it the new args, and
--             priority and metadata where given), extend (move its run_at to the new one), overwrite (replace and extend);
--             a job that a worker holds stays as it is
-- Returns     for each job of the array its id and whether it is new, and what is to be done to the one that is there:
--             null, existing, replace, extend, overwrite
-- Errors      LH001 a unique is refused · LH006 a unique job is there already (its id is in the message and the detail) · 42501 it is to be
--             changed, but a login may only change its own jobs, those of logins that it is a member of, and all jobs if it may
--             call cancel_job; where no roles are in force everybody may
-- Tables      unique_jobs as lock_unique_jobs, unique_claims (read, insert), idempotency_keys (update)
create or replace function leasehold.claim_unique_jobs(jobs jsonb, ids bigint[], are_new boolean[])
returns table ("position" bigint, job_id bigint, is_new boolean, on_conflict text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    c_held      constant jsonb := '["claimed", "running"]';
    v_now       timestamptz := leasehold.clock();
    v_complaint text;
    v_asked     record;
    v_first     record;
    v_had       record;
    v_winners   bigint[];
    v_refused   record;
begin
    select leasehold.name_job(claim_unique_jobs.jobs, w.position) || leasehold.refuse_unique(w.doc) into v_complaint
      from jsonb_array_elements(claim_unique_jobs.jobs) with ordinality w(doc, position)
     where leasehold.refuse_unique(w.doc) is not null
     order by w.position limit 1;
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint, hint = 'nothing was enqueued';
    end if;

    select array_agg(k.position order by k.position) as places, array_agg(k.unique_key order by k.position) as keys,
           array_agg(k.terms order by k.position) as terms
      into v_asked
      from (select w.position, w.doc -> 'unique' as terms,
                   case when w.doc -> 'unique' ? 'key' then 'key:' || (w.doc #>> '{unique,key}')
                        else 'by:' || (select encode(sha256(convert_to(jsonb_object_agg(b.part, case
                                                  when b.part = 'queue' then to_jsonb(coalesce(w.doc ->> 'queue', 'default'))
                                                  when b.part = 'args' then coalesce(nullif(w.doc -> 'args', 'null'), '{}')
                                                  when b.part like 'args._%' then w.doc -> 'args' -> substr(b.part, 6)
                                                  else w.doc -> b.part end)::text, 'UTF8')), 'hex')
                                         from jsonb_array_elements_text(coalesce(w.doc #> '{unique,by}', '["kind", "args"]')) b(part)) end as unique_key
              from jsonb_array_elements(claim_unique_jobs.jobs) with ordinality w(doc, position)
             where claim_unique_jobs.are_new[w.position] and jsonb_typeof(w.doc -> 'unique') = 'object') k;
    if v_asked.keys is null then
        return query select n.position, n.id, n.is_new, null::text from unnest(claim_unique_jobs.ids, claim_unique_jobs.are_new) with ordinality n(id, is_new, position);
        return;
    end if;
    select array_agg(f.unique_key) as keys, array_agg(claim_unique_jobs.ids[f.place]) as ids, array_agg(f.terms) as terms,
           array_agg(f.changes or not coalesce(f.terms -> 'states' @> c_held, true)) as with_jobs
      into v_first
      from (select distinct on (a.unique_key) a.unique_key, a.place, a.terms,
                   bool_or(a.terms ->> 'on_conflict' in ('replace', 'extend', 'overwrite')) over (partition by a.unique_key) is true as changes
              from unnest(v_asked.keys, v_asked.places, v_asked.terms) a(unique_key, place, terms) order by a.unique_key, a.place) f;

    select array_agg(h.job_id order by f.place) as ids, array_agg(h.since order by f.place) as since, array_agg(h.is_mine order by f.place) as mine
      into v_had
      from leasehold.lock_unique_jobs(v_first.keys, v_first.ids, v_first.with_jobs, v_now) h
      join unnest(v_first.keys) with ordinality f(unique_key, place) using (unique_key);
    v_winners := array(select case when h.mine or not leasehold.is_bound(h.had, h.since, f.terms, v_now) then f.id else h.had end
                         from unnest(v_first.ids, v_first.terms) with ordinality f(id, terms, place)
                         join unnest(v_had.ids, v_had.since, v_had.mine) with ordinality h(had, since, mine, place) using (place) order by place);

    select a.place, w.id into v_refused
      from unnest(v_asked.keys, v_asked.places, v_asked.terms) a(unique_key, place, terms)
      join unnest(v_first.keys, v_winners) w(unique_key, id) using (unique_key)
     where a.terms ->> 'on_conflict' = 'reject' and w.id <> claim_unique_jobs.ids[a.place]
     order by a.place limit 1;
    if found then
        raise exception using errcode = 'LH006', detail = v_refused.id, hint = 'nothing was enqueued',
            message = leasehold.name_job(claim_unique_jobs.jobs, v_refused.place) || coalesce(
            (select format('job %s of the same call has this unique key', n.position)
               from unnest(claim_unique_jobs.ids) with ordinality n(id, position) where n.id = v_refused.id),
            format('job %s has this unique key', v_refused.id));
    end if;

    if true = any (v_first.with_jobs) then
        select a.place, w.id, c.made_by into v_refused
          from unnest(v_asked.keys, v_asked.places, v_asked.terms) a(unique_key, place, terms)
          join unnest(v_first.keys, v_winners) w(unique_key, id) using (unique_key)
          join leasehold.unique_claims c on c.job_id = w.id
         where a.terms ->> 'on_conflict' in ('replace', 'extend', 'overwrite') and c.made_by <> session_user
           and not exists (select from pg_proc p where p.pronamespace = 'leasehold'::regnamespace and p.proname = 'cancel_job'
                              and has_function_privilege(session_user, p.oid, 'execute'))
           and not exists (select from pg_roles r where r.rolname = c.made_by and pg_has_role(session_user, r.oid, 'member'))
         order by a.place limit 1;
        if found then
            raise exception using errcode = '42501',
                message = leasehold.name_job(claim_unique_jobs.jobs, v_refused.place)
                          || format('job %s has this unique key, login %I made it, and login %I may not change it', v_refused.id, v_refused.made_by, session_user),
                hint = format('nothing was enqueued; a member of %I may change it', v_refused.made_by);
        end if;
    end if;

    update leasehold.unique_jobs u set job_id = f.id, created_at = v_now
      from unnest(v_first.keys, v_first.ids, v_winners) f(unique_key, id, winner)
     cross join lateral (select o.ctid as place from leasehold.unique_jobs o where o.unique_key = f.unique_key offset 0) p
     where f.winner = f.id and u.ctid = p.place and u.job_id <> f.id;
    insert into leasehold.unique_claims (job_id, unique_key, of_chain, created_at)
    select f.id, f.unique_key, f.terms ->> 'scope' is not distinct from 'chain', v_now
      from unnest(v_first.keys, v_first.ids, v_first.terms, v_winners) f(unique_key, id, terms, winner) where f.winner = f.id;
    if jsonb_path_exists(claim_unique_jobs.jobs, '$[*] ? (@.unique != null && @.idempotency_key != null)') then
        update leasehold.idempotency_keys i set job_id = w.id
          from unnest(v_asked.keys, v_asked.places) a(unique_key, place) join unnest(v_first.keys, v_winners) w(unique_key, id) using (unique_key)
         where i.idempotency_key = claim_unique_jobs.jobs -> (a.place::integer - 1) ->> 'idempotency_key' and i.job_id = claim_unique_jobs.ids[a.place];
    end if;

    -- Jobs that an idempotency key pointed to one of these go along with it.
    return query
    select n.position, coalesce(t.id, n.id), n.is_new and coalesce(t.id, n.id) = n.id,
           case when n.is_new and t.id <> n.id then coalesce(t.terms ->> 'on_conflict', 'existing') end
      from unnest(claim_unique_jobs.ids, claim_unique_jobs.are_new) with ordinality n(id, is_new, position)
      left join (select claim_unique_jobs.ids[a.place] as asked, w.id, a.terms
                   from unnest(v_asked.keys, v_asked.places, v_asked.terms) a(unique_key, place, terms)
                   join unnest(v_first.keys, v_winners) w(unique_key, id) using (unique_key)) t on t.asked = n.id;
end
$$;
