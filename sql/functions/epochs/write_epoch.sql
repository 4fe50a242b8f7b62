-- Purpose     Write the row of the present epoch: when it began, where, and why it is another one than before.
-- Parameters  ids_after, ids_until: the ids that were skipped; null: none, or nobody knows
-- Returns     nothing
-- Errors      none
-- Tables      epochs (read, insert)
create or replace function leasehold.write_epoch(ids_after bigint, ids_until bigint) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_id       bigint := pg_sequence_last_value('leasehold.epochs_id_seq');
    v_timeline bigint := nullif(pg_sequence_last_value('leasehold.epochs_mark_seq') >> 32, 0);
    v_database bigint := (select d.oid::bigint from pg_database d where d.datname = current_database());
    v_system   bigint := leasehold.read_system();
    v_former   leasehold.epochs;
begin
    select * into v_former from leasehold.epochs e where e.id <> v_id order by e.began_at desc limit 1;
    insert into leasehold.epochs (id, mark, began_at, cause, system_identifier, database_oid, timeline, former_timeline, ids_after, ids_until)
    values (v_id, pg_sequence_last_value('leasehold.epochs_mark_seq'), leasehold.clock(),
            case when v_former.id is null then 'first'
                 when v_former.system_identifier <> v_system then 'server'
                 when v_former.database_oid <> v_database then 'database'
                 when v_former.timeline <> v_timeline then 'timeline'
                 else 'rewound' end,
            v_system, v_database, v_timeline, v_former.timeline, write_epoch.ids_after, write_epoch.ids_until)
    on conflict (id) do nothing;
end
$$;
