"""The task workers' tables, as their documents give them; the tables that these only name have the columns that they need."""

WORKER_TASKS = """
create type task_role as enum ('store_discovery', 'entry_point_discovery', 'product_discovery', 'product_resync',
       'payload_fetch',
    'product_refresh', 'analytics_refresh');
create type task_status as enum ('pending', 'claimed', 'running', 'completed', 'failed', 'stale');
create table worker_tasks (
    id serial primary key, role task_role not null, dispensary_id integer, platform varchar(50),
       status task_status default 'pending',
    priority integer default 0, scheduled_for timestamp, worker_id varchar(100), claimed_at timestamp, started_at timestamp,
    completed_at timestamp, last_heartbeat_at timestamp, result jsonb, error_message text, retry_count integer default 0,
    max_retries integer default 3, created_at timestamp default now(), updated_at timestamp default now());
create unique index idx_worker_tasks_active_dispensary on worker_tasks (dispensary_id)
    where dispensary_id is not null and status in ('claimed', 'running');
create table task_schedules (
    id serial primary key, name varchar(100) not null unique, role varchar(50) not null, enabled boolean default true,
    interval_hours integer not null, priority integer default 0, state_code varchar(2), last_run_at timestamptz,
       next_run_at timestamptz,
    last_task_count integer, last_error text);
create table dispensaries (id serial primary key, name text, state varchar(2));
insert into dispensaries (name, state) select 'shop ' || n,
       case when n % 2 = 0 then 'AZ' else 'CO' end from generate_series(1, 10) n;
"""
CRAWL_JOBS = """
create table dispensary_crawl_jobs (id serial primary key, dispensary_id integer not null, job_type text,
       status text not null,
    priority integer default 0);
create table job_schedules (id serial primary key, job_name text not null, enabled boolean not null default true,
       base_interval_minutes integer);
insert into dispensary_crawl_jobs (dispensary_id, job_type, status)
    select n, 'product_crawl',
       case n % 3 when 0 then 'completed' when 1 then 'pending' else 'running' end from generate_series(1, 9) n;
insert into job_schedules (job_name, enabled, base_interval_minutes) values ('crawl_all', true, 240), ('old', false, 60);
"""
CLAIM = """
update worker_tasks set status = 'claimed', worker_id = $1, claimed_at = now() where id = (
    select id from worker_tasks where status = 'pending' and (scheduled_for is null or scheduled_for <= now())
       and (dispensary_id is null or dispensary_id not in (
            select dispensary_id from worker_tasks where status in ('claimed', 'running') and dispensary_id is not null))
     order by priority desc, created_at asc limit 1 for update skip locked) returning id
"""
"""How their workers claim."""
