-- How often a worker means to be heard of, so that its silence is noticed after two heartbeats instead of three minutes; and how
-- often it found by itself what nobody had told it of. Neither is indexed: a heartbeat stays one heap-only update.

alter table leasehold.workers
    add column heartbeat_seconds real,
    add column lost_wake_ups     bigint not null default 0,
    add constraint workers_heartbeat_takes_time check (heartbeat_seconds > 0);

comment on column leasehold.workers.heartbeat_seconds is 'Between heartbeats, as it said when it registered; null: it did not say.';
comment on column leasehold.workers.lost_wake_ups is 'Jobs that it found by polling, though it listened and nobody had rung for them; as of its last heartbeat.';
