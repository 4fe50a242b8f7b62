-- Purpose     Find a source by its name, locked against whoever else moves it.
-- Parameters  source: its name; null: the only one there is · lock: wait for others that move it, until the transaction ends
-- Returns     the row
-- Errors      LH001 no name was given, and there are several: the message names them · LH002 there is none of this name, or none at all
-- Tables      an advisory lock of the name, sources (read)
create or replace function leasehold.find_source(source text, lock boolean) returns leasehold.sources language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_name  text := coalesce(find_source.source, (select min(s.source) from leasehold.sources s having count(*) = 1));
    v_found leasehold.sources;
begin
    if find_source.lock then
        perform pg_advisory_xact_lock(hashtextextended('leasehold source ' || v_name, 0));
    end if;
    select s.* into v_found from leasehold.sources s where s.source = v_name;
    if v_name is null and exists (select from leasehold.sources) then
        raise exception using errcode = 'LH001',
            message = 'say which source is meant; there are ' || (select string_agg(s.source, ', ' order by s.source) from leasehold.sources s);
    elsif v_found.source is null then
        raise exception using errcode = 'LH002', table = 'sources',
            message = 'there is no source' || coalesce(' ' || quote_literal(v_name), '')
            || coalesce('; there are ' || (select string_agg(s.source, ', ' order by s.source) from leasehold.sources s), '; none is defined'),
            hint = 'the owner of the schema defines one with leasehold import define';
    end if;
    return v_found;
end
$$;
