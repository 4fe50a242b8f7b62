-- Purpose     Give jobs what their kinds say where they say nothing themselves, and refuse args that do not fit. Jobs of kinds that the
--             catalogue does not know stay as they are; so does whatever is no job.
-- Parameters  jobs: as enqueue_jobs, an array · for_schedule: nothing is refused, and no unique is given: schedules have overlap
-- Returns     the jobs. A field that is null counts as not said, and check_args = false takes any args
-- Errors      LH001 args do not fit: the message says which ones and why
-- Tables      kinds (read)
create or replace function leasehold.fill_jobs(jobs jsonb, for_schedule boolean default false) returns jsonb language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_complaint text;
    v_filled    jsonb;
begin
    if not fill_jobs.for_schedule then
        select leasehold.name_job(fill_jobs.jobs, w.position) || r.complaint into v_complaint
          from jsonb_array_elements(fill_jobs.jobs) with ordinality w(doc, position)
          join leasehold.kinds k on k.kind = w.doc ->> 'kind'
         cross join lateral leasehold.refuse_args(k, w.doc -> 'args', w.doc ->> 'key' is not null, w.doc ->> 'key_group' is not null,
               w.doc -> 'check_args' is distinct from 'false') r(complaint)
         where r.complaint is not null and (k.key is not null or k.key_group is not null
               or k.checks_args and leasehold.is_easy(w.doc -> 'args', k.easy_args, k.easy_names) is not true)
         order by w.position limit 1;
        if v_complaint is not null then
            raise exception using errcode = 'LH001', message = v_complaint,
                hint = 'nothing was enqueued; "check_args": false in a job takes any args';
        end if;
    end if;
    select jsonb_agg(case when k.fills and jsonb_typeof(w.doc) = 'object' then
               case when fill_jobs.for_schedule then k.defaults - 'unique' else k.defaults end
            || case when k.key is not null and leasehold.derive_key(w.doc -> 'args', k.key) is not null
                    then jsonb_build_object('key', leasehold.derive_key(w.doc -> 'args', k.key)) else '{}' end
            || case when k.key_group is not null and leasehold.derive_key(w.doc -> 'args', k.key_group) is not null
                    then jsonb_build_object('key_group', leasehold.derive_key(w.doc -> 'args', k.key_group)) else '{}' end
            || case when w.doc @? '$.* ? (@ == null)' then (select jsonb_object_agg(f.key, f.value) from jsonb_each(w.doc) f where f.value <> 'null') else w.doc end
            else w.doc end order by w.position)
      into v_filled
      from jsonb_array_elements(fill_jobs.jobs) with ordinality w(doc, position) left join leasehold.kinds k on k.kind = w.doc ->> 'kind';
    return v_filled;
end
$$;
