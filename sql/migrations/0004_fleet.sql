-- The fleet: what a worker says of itself and how it fares, and what it is told to do. A heartbeat still touches no indexed
-- column; a row with many kinds keeps them out of line, so that the row that each heartbeat writes anew stays short.

alter table leasehold.workers
    add column name          text,
    add column app_version   text,
    add column memory_limit  bigint,
    add column cpu_limit     double precision,
    add column memory        real,
    add column cpu           real,
    add column backoff       text,
    add column backoff_until timestamptz,
    drop constraint workers_state_is_known,
    add constraint workers_state_is_known check (state in ('ready', 'paused', 'draining', 'stopped')),
    set (toast_tuple_target = 256);

comment on column leasehold.workers.name is 'Friendly name: given, or made from the worker id.';
comment on column leasehold.workers.host is 'Machine, container or pod.';
comment on column leasehold.workers.version is 'Of leasehold.';
comment on column leasehold.workers.app_version is 'Of the code that has the handlers.';
comment on column leasehold.workers.memory_limit is 'Bytes that it may use: of its container, else of the machine.';
comment on column leasehold.workers.cpu_limit is 'CPUs that it may use: of its container, else of the machine.';
comment on column leasehold.workers.memory is 'Share of memory_limit in use at the last heartbeat.';
comment on column leasehold.workers.cpu is 'Share of cpu_limit in use at the last heartbeat, smoothed.';
comment on column leasehold.workers.backoff is 'Why it claims nothing for now; null: it does.';

create table leasehold.worker_commands (
    id          bigint generated always as identity primary key,
    incarnation uuid not null,
    command     text collate "C" not null,
    args        jsonb not null,
    created_at  timestamptz not null,
    expires_at  timestamptz not null,
    received_at timestamptz,
    done_at     timestamptz,
    result      jsonb,
    error       text,
    constraint worker_commands_done_were_received check (done_at is null or received_at is not null),
    constraint worker_commands_answers_are_done check (done_at is not null or (result is null and error is null))
);

create index worker_commands_worker on leasehold.worker_commands (incarnation, id);
create index worker_commands_open on leasehold.worker_commands (incarnation, id) where done_at is null;

comment on table leasehold.worker_commands is 'What workers are told to do, and what they answered.';
comment on column leasehold.worker_commands.expires_at is 'A worker that has not received it by then never will.';
