-- Purpose     Say why a job's args do not fit what the newest version of its kind takes, or return null. The claim check of large args
--             is not looked into.
-- Parameters  kind: its row · args: an object; null: none · has_key, has_key_group: whether the job says them itself
--             check_args: false: look only whether they give a key
-- Returns     one sentence, or null
-- Errors      none
-- Tables      none
create or replace function leasehold.refuse_args(
    kind leasehold.kinds, args jsonb, has_key boolean, has_key_group boolean, check_args boolean default true
) returns text language plpgsql immutable
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    k           leasehold.kinds := refuse_args.kind;
    v_args      jsonb := coalesce(nullif(refuse_args.args, 'null'), '{}');
    v_complaint text;
begin
    if jsonb_typeof(v_args) <> 'object' or v_args ? '$payload' then
        return null; -- what is no object is refused by refuse_job
    end if;
    v_complaint := case
        when refuse_args.check_args and k.checks_args and leasehold.is_easy(v_args, k.easy_args, k.easy_names) is not true
        then leasehold.refuse_value(v_args, k.definition -> 'args_schema', k.definition -> 'args_schema' -> '$defs', 'args') end;
    v_complaint := coalesce(v_complaint, (
        select format('%s is %s, and cannot be the %s of a job', p.place, jsonb_typeof(v_args #> (string_to_array(p.place, '.'))[2:]), p.name)
          from (values ('key', k.key, refuse_args.has_key), ('key group', k.key_group, refuse_args.has_key_group)) p(name, place, is_given)
         where not p.is_given and jsonb_typeof(v_args #> (string_to_array(p.place, '.'))[2:]) in ('object', 'array') limit 1));
    return format('args do not fit %s%s: ', k.kind, ' as version ' || nullif(k.app_version, '') || ' takes them') || v_complaint;
end
$$;
