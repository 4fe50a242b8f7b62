-- The whole protocol: chains and blockers, limits, uniqueness, deadlines, crash blame, progress and logs. A plain job has
-- null in every new column and costs what it cost before: each new index is partial and knows nothing of plain jobs.

alter table leasehold.jobs
    add column chain_id       bigint,
    add column chain_position integer,
    add column key_group      text collate "C",
    add column timeout        double precision,
    add column deadline       timestamptz,
    add column traceparent    text,
    add column crashes        integer,
    add column limited        boolean,
    drop constraint jobs_state_is_known,
    add constraint jobs_state_is_known check (state in ('pending', 'scheduled', 'waiting', 'blocked', 'claimed', 'running')),
    add constraint jobs_links_have_a_position check ((chain_id is null) = (chain_position is null));

comment on column leasehold.jobs.chain_id is 'The first job of the chain this one continues; null for a first job, whose chain has its own id.';
comment on column leasehold.jobs.chain_position is 'How many jobs of the chain came before; null for a first job.';
comment on column leasehold.jobs.key_group is 'What a limit "each group" counts by: a tenant, a host, a shop.';
comment on column leasehold.jobs.timeout is 'Seconds that one attempt may run.';
comment on column leasehold.jobs.deadline is 'Not later than this: then the job fails, whether it runs or not.';
comment on column leasehold.jobs.crashes is 'How often a process died while it ran this job.';
comment on column leasehold.jobs.limited is 'Its queue had limits when it was claimed or since; while it is held, they count it.';

-- One open job per chain: a chain has one tail.
create unique index jobs_open_chain on leasehold.jobs (chain_id) where chain_id is not null;
create index jobs_blocked on leasehold.jobs (id) where state = 'blocked';
create index jobs_deadline on leasehold.jobs (deadline) where deadline is not null;
create index jobs_suspects on leasehold.jobs (incarnation) where crashes > 0;

create index jobs_limited on leasehold.jobs (queue, key_group) where limited and incarnation is not null;
-- Under limits of each group, claims skip from group to group, and look apart for jobs without one.
drop index leasehold.jobs_pending;
create index jobs_pending on leasehold.jobs (queue, kind, (key_group is not null), priority desc, run_at, id) where state = 'pending';
create index jobs_grouped on leasehold.jobs (queue, key_group, kind, priority desc, run_at, id) where state = 'pending' and key_group is not null;

alter table leasehold.finished_jobs
    add column chain_id       bigint,
    add column chain_position integer,
    add column key_group      text collate "C",
    add column timeout        double precision,
    add column deadline       timestamptz,
    add column traceparent    text,
    add column crashes        integer,
    add column succeeded_by   bigint,
    drop constraint finished_jobs_completed_were_claimed,
    add constraint finished_jobs_succeeded_are_completed check (succeeded_by is null or state = 'completed');

comment on column leasehold.finished_jobs.succeeded_by is 'The job that continued the chain; the last one has none, and its output is the output of the chain.';

create index finished_jobs_chain on leasehold.finished_jobs (chain_id, chain_position) where chain_id is not null;

create table leasehold.job_blockers (
    job_id    bigint not null,
    slot      integer not null,
    chain_id  bigint not null,
    closed_at timestamptz,
    output    jsonb,
    primary key (job_id, slot),
    constraint job_blockers_slots_begin_at_one check (slot > 0),
    constraint job_blockers_open_have_no_output check (closed_at is not null or output is null)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

create index job_blockers_open on leasehold.job_blockers (chain_id, job_id) where closed_at is null;
-- `slot > 0`, which is always true: without these words no plan looks for a chain in this index, and with them for a job in it.
create index job_blockers_waiting on leasehold.job_blockers (job_id, chain_id) where closed_at is null and slot > 0;

comment on table leasehold.job_blockers is 'Which chains a job waits for, in the order of its slots, and with what each of them ended.';

create unlogged table leasehold.chain_waiters (
    chain_id   bigint primary key,
    expires_at timestamptz not null
);

comment on table leasehold.chain_waiters is 'Chains that somebody waits for, so that their end is notified and no other. Losing it costs a poll.';

create table leasehold.unique_jobs (
    unique_key text collate "C" primary key,
    job_id     bigint not null,
    created_at timestamptz not null
);

comment on table leasehold.unique_jobs is 'Which job has which unique key. Its index decides; whether the claim still binds is read from the job itself.';

create table leasehold.unique_claims (
    job_id     bigint primary key,
    unique_key text collate "C" not null,
    of_chain   boolean not null,
    created_at timestamptz not null
);

comment on table leasehold.unique_claims is 'Under which unique key a job was made, for as long as the job is known: a retry has to ask for it again.';
comment on column leasehold.unique_claims.of_chain is 'Claimed for as long as the chain that the job began is open.';

create type leasehold.job_change as (
    job_id  bigint,
    kind    text,
    queue   text,
    changed boolean,
    was     text,
    now     text,
    reason  text
);

comment on type leasehold.job_change is 'What retry_jobs or cancel_jobs did with a job, or why it did nothing.';

create table leasehold.limits (
    queue       text collate "C" not null,
    key_group   text collate "C" not null default '',
    max_running integer,
    rate        double precision,
    burst       integer,
    set_at      timestamptz not null,
    primary key (queue, key_group),
    constraint limits_say_something check (max_running is not null or rate is not null),
    constraint limits_are_positive check (max_running >= 0 and rate > 0 and burst >= 1),
    constraint limits_rate_has_a_burst check ((rate is null) = (burst is null))
);

comment on table leasehold.limits is 'How much of a queue, and of each key group of it, may run at once and start in a second.';
comment on column leasehold.limits.key_group is 'Empty: the queue as a whole. *: each key group of it. Else this one group, before *.';
comment on column leasehold.limits.rate is 'Starts a second, on the long run; burst at once.';
comment on column leasehold.limits.set_at is 'Tokens of jobs claimed before are not given back.';

create table leasehold.rate_buckets (
    queue     text collate "C" not null,
    key_group text collate "C" not null,
    tokens    double precision not null,
    filled_at timestamptz not null,
    primary key (queue, key_group)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

comment on table leasehold.rate_buckets is 'Token buckets of rate limits; changed under the lock of their queue, by the transaction that claims. None: full.';

create table leasehold.limit_turns (
    queue     text collate "C" primary key,
    key_group text collate "C" not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

comment on table leasehold.limit_turns is 'Which key group of a queue was served last (empty: jobs without one), so that groups take turns.';

create table leasehold.job_progress (
    job_id   bigint primary key,
    attempt  integer not null,
    fraction double precision,
    message  text,
    at       timestamptz not null,
    constraint job_progress_is_a_fraction check (fraction between 0 and 1)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

comment on table leasehold.job_progress is 'How far the running attempt has come.';

create table leasehold.job_logs (
    job_id  bigint not null,
    at      timestamptz not null,
    attempt integer not null,
    level   text collate "C" not null,
    message text not null
) partition by range (at);

create index job_logs_job_id on leasehold.job_logs (job_id, at);
create table leasehold.job_logs_default partition of leasehold.job_logs default;

comment on table leasehold.job_logs is 'What handlers logged with job.log, capped per job, one partition a day.';

alter table leasehold.workers
    add column lost_jobs  integer not null default 0,
    add column lost_at    timestamptz,
    add column blamed_job bigint;

comment on column leasehold.workers.lost_jobs is 'How many jobs were taken back from it because their leases had run out.';
comment on column leasehold.workers.lost_at is 'When the last of them were. What it claims afterwards it claims alive.';
comment on column leasehold.workers.blamed_job is 'The one among them that had been there when a process died before.';
