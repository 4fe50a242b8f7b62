-- Purpose     Name the first field of new jobs whose value cannot be read as a number or a time. It tries each: call it where
--             reading all of them has failed.
-- Parameters  jobs: as enqueue_jobs, an array of objects
-- Returns     one sentence that names the job, the field and the value, or null
-- Errors      none
-- Tables      none
create or replace function leasehold.name_unreadable_field(jobs jsonb) returns text language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' as $$
declare
    v_field record;
begin
    for v_field in
        select w.position, f.name, f.type, w.doc ->> f.name as value
          from jsonb_array_elements(name_unreadable_field.jobs) with ordinality w(doc, position)
         cross join (values ('priority', 'integer'), ('max_attempts', 'integer'), ('delay', 'double precision'), ('timeout', 'double precision'),
                            ('run_at', 'timestamptz'), ('deadline', 'timestamptz')) f(name, type)
         where w.doc ->> f.name is not null order by w.position
    loop
        begin
            execute format(case when v_field.name = 'deadline' and v_field.value like 'P%' then 'select leasehold.clock() + %L::interval' else 'select %L::%s' end,
                           v_field.value, v_field.type);
        exception when data_exception then
            return leasehold.name_job(name_unreadable_field.jobs, v_field.position) || v_field.name
                || case v_field.type when 'integer' then ' must be a whole number from -2147483648 to 2147483647, not '
                                     when 'timestamptz' then ' must be a time, such as 2030-01-31T12:00:00Z, not ' else ' must be a number of seconds, not ' end
                || left(v_field.value, 100);
        end;
    end loop;
    return null;
end
$$;
