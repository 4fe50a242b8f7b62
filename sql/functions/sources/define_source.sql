-- Purpose     Say how the tables of another queue in this database are read, so that it can move in. Only the owner may: what the
--             mapping says is SQL, and runs with the owner's rights. A second call replaces the mapping.
-- Parameters  source: its name
--             mapping: JSON object with
--             jobs: a list; for each table its name (with its schema), id and state (columns), states (what each state there means
--               here: pending, which moves; running, completed, failed, cancelled, which do not), columns (fields of enqueue_jobs,
--               each a SQL expression over the row s; positional: a JSON array of args without names), refuse (an expression:
--               why a row cannot move, or null), moved (the SET of an UPDATE that ends the row there; without it the row is deleted),
--               action (move, or cancel: end it there and make no job)
--             schedules: a list; table, id, columns (fields of create_schedule), refuse, moved as above; live: whether it is enabled;
--               action (move, or disable: make none here)
--             refill: a list; columns (fields of enqueue_jobs), table, where, filters (expressions by name): one job for each row,
--               or one job without a table
--             kinds, queues: names there to names here · positional: by kind there, the names of its positional args
--             search_path: schemas in which its SQL and the triggers of its tables find names, after pg_catalog
--             afterwards: statements that follow each batch in which something moved
-- Returns     whether it is new
-- Errors      LH001 the mapping is refused, or a schema of its search_path is not there: the message says why · LH004 the source is sealed
-- Tables      an advisory lock of the name, sources
create or replace function leasehold.define_source(source text, mapping jsonb) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_complaint text := case when coalesce(octet_length(define_source.source), 0) not between 1 and 100 then 'the name of a source must have 1 to 100 bytes'
                             else leasehold.refuse_mapping(define_source.mapping) end;
    v_is_new    boolean;
begin
    v_complaint := coalesce(v_complaint, (
        select format('there is no schema %L here; tables of the mapping would be looked for in it', n.name)
          from regexp_split_to_table(define_source.mapping ->> 'search_path', ', *') n(name)
         where not exists (select from pg_namespace s where s.nspname = n.name) limit 1));
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint, hint = 'docs/moving-in.md has the form of a mapping';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('leasehold source ' || define_source.source, 0));
    if exists (select from leasehold.sources s where s.source = define_source.source and s.sealed_at is not null and s.mapping <> define_source.mapping) then
        raise exception using errcode = 'LH004', message = format('source %L is sealed: its guards know the mapping as it was', define_source.source),
            hint = 'open it first';
    end if;
    insert into leasehold.sources as s (source, mapping, defined_at, defined_by)
    values (define_source.source, define_source.mapping, leasehold.clock(), session_user)
    on conflict (source) do update set mapping = excluded.mapping, defined_at = excluded.defined_at, defined_by = excluded.defined_by
    returning s.xmax = 0 into v_is_new;
    return v_is_new;
end
$$;
