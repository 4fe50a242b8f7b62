-- Purpose     Seal a source for its cut-over, or open it again. Its own workers claim nothing any more: an update that would give one
--             a job finds no row. What they run goes on, and what is new there waits to be moved.
-- Parameters  source: its name; null: the only one there is · sealed: false opens it
-- Returns     whether this changed anything
-- Errors      LH002 there is no such source · LH004 a transaction there does not end within 5 seconds
-- Tables      an advisory lock of the name, those of the source (a trigger: writers there wait for a moment), sources
create or replace function leasehold.seal_source(source text default null, sealed boolean default true) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set lock_timeout = '5s' as $$
#variable_conflict use_column
declare
    v_source leasehold.sources := leasehold.find_source(seal_source.source, true);
    v_part   jsonb;
begin
    if (v_source.sealed_at is not null) = seal_source.sealed then
        return false;
    end if;
    for v_part in select p from jsonb_array_elements(v_source.mapping -> 'jobs') p loop
        if not seal_source.sealed then
            begin
                execute format('drop trigger if exists leasehold_guard on %s', v_part ->> 'table');
            exception when insufficient_privilege then
                -- Only who owns a table may drop a trigger of it; who may make one may make it say nothing.
                execute format('create or replace trigger leasehold_guard before update on %s for each row when (false) execute function leasehold.guard_source()',
                               v_part ->> 'table');
            end;
            continue;
        end if;
        execute format('create or replace trigger leasehold_guard before update on %s for each row when (old.%I is distinct from new.%2$I) '
                       'execute function leasehold.guard_source(%L, %L, %L, %L, %L, %L)',
                       v_part ->> 'table', v_part ->> 'state', v_source.source, v_part ->> 'table', v_part ->> 'id', v_part ->> 'state',
                       array(select s.key from jsonb_each_text(v_part -> 'states') s where s.value = 'pending'),
                       array(select s.key from jsonb_each_text(v_part -> 'states') s where s.value = 'running'));
    end loop;
    update leasehold.sources s set sealed_at = case when seal_source.sealed then leasehold.clock() end where s.source = v_source.source;
    return true;
exception when lock_not_available then
    raise exception using errcode = 'LH004', message = format('a transaction on %s does not end, so %s cannot be sealed or opened', v_part ->> 'table', v_source.source),
        hint = 'try again; pg_stat_activity shows who is in a transaction';
end
$$;
