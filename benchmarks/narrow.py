"""A hand-written job table with nothing in it that could be left out, and the two shortest statements that use it."""

TABLE = """
create table narrow (
    id      bigint generated always as identity primary key,
    state   smallint not null default 0,
    attempt integer not null default 0,
    run_at  timestamptz not null default clock_timestamp(),
    args    jsonb not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
create index on narrow (run_at, id) where state = 0
"""
INSERT = "insert into narrow (args) select '{}' from generate_series(1, $1)"
CLAIM = """
update narrow set state = 1, attempt = attempt + 1
 where ctid = any (array(select ctid from narrow where state = 0 order by run_at, id limit $1 for update skip locked))
returning id, attempt, args
"""
COMPLETE = """
delete from narrow n using unnest($1::bigint[], $2::integer[]) e(id, attempt) where n.id = e.id and n.attempt = e.attempt
"""
CHANNEL = "bell"
RING = f"with new as (insert into narrow (args) values ('{{}}') returning id) select id, pg_notify('{CHANNEL}', '') from new"
