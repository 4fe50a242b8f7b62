-- What happened in each minute of each queue, and how many jobs there are: kept by the accountant, beside the jobs, so that
-- no page counts a big table and no job pays for being counted.

-- Read once for each minute. A row costs nothing here until its pages are summarised, which happens after the fact.
create index finished_jobs_finished_at on leasehold.finished_jobs using brin (finished_at) with (pages_per_range = 64, autosummarize = on);
create index job_events_at on leasehold.job_events using brin (at) with (pages_per_range = 64, autosummarize = on);

create table leasehold.rollups (
    starts_at    timestamptz not null,
    seconds      integer not null,
    queue        text collate "C" not null,
    arrivals     bigint not null,
    starts       bigint not null,
    completed    bigint not null,
    failed       bigint not null,
    cancelled    bigint not null,
    retries      bigint not null,
    wait_seconds double precision not null,
    run_seconds  double precision not null,
    run_squares  double precision not null,
    waits        bigint[] not null,
    runs         bigint[] not null,
    last_completed_at timestamptz,
    primary key (queue, starts_at),
    constraint rollups_are_of_a_minute_or_an_hour check (seconds in (60, 3600))
);

create index rollups_starts_at on leasehold.rollups (starts_at);

comment on table leasehold.rollups is 'What happened in a minute of a queue; minutes older than two days are merged into hours.';
comment on column leasehold.rollups.arrivals is 'Jobs that were enqueued.';
comment on column leasehold.rollups.starts is 'Jobs that were claimed, each attempt counted.';
comment on column leasehold.rollups.retries is 'Attempts that failed or were taken back and are made again.';
comment on column leasehold.rollups.wait_seconds is 'From when a job might run to its start, summed over the jobs that completed or failed.';
comment on column leasehold.rollups.run_seconds is 'From start to end, summed over the attempts that ended; run_squares: their squares.';
comment on column leasehold.rollups.waits is 'How many waited so long, by bucket_bounds(); runs: how many ran so long.';

create table leasehold.rollup_totals (
    queue             text collate "C" primary key,
    since             timestamptz not null,
    last_completed_at timestamptz,
    arrivals          bigint not null,
    starts            bigint not null,
    completed         bigint not null,
    failed            bigint not null,
    cancelled         bigint not null,
    retries           bigint not null,
    wait_seconds      double precision not null,
    run_seconds       double precision not null,
    waits             bigint[] not null,
    runs              bigint[] not null
) with (fillfactor = 50);

comment on table leasehold.rollup_totals is 'The sum of all rollups there ever were, by queue: counters that only grow.';

create table leasehold.rollup_progress (
    rolled_until timestamptz not null,
    final_until  timestamptz not null
) with (fillfactor = 50);

create unique index rollup_progress_is_one_row on leasehold.rollup_progress ((true));

comment on table leasehold.rollup_progress is 'One row: how far minutes are rolled up, and up to when nobody can add to them any more.';

create table leasehold.rollup_marks (
    taken_at timestamptz not null,
    horizon  xid8 not null,
    last_id  bigint not null
);

comment on table leasehold.rollup_marks is 'Moments of the last hours: which transactions there had been by then (those below horizon), and which ids.';

create table leasehold.queue_depths (
    queue text collate "C" not null,
    state text collate "C" not null,
    jobs  bigint not null,
    primary key (queue, state)
);

comment on table leasehold.queue_depths is 'The last count of a table too big to be counted whenever somebody asks.';

create table leasehold.depth_counts (
    counted_at timestamptz not null,
    took       double precision not null
) with (fillfactor = 50);

create unique index depth_counts_is_one_row on leasehold.depth_counts ((true));

comment on table leasehold.depth_counts is 'One row: when jobs was last counted into queue_depths, and how many seconds that took.';

create type leasehold.queue_rates as (
    queue         text,
    since         timestamptz,
    until         timestamptz,
    seconds       double precision,
    arrivals      bigint,
    starts        bigint,
    completed     bigint,
    failed        bigint,
    cancelled     bigint,
    retries       bigint,
    average_wait  double precision,
    average_run   double precision,
    p50_wait      double precision,
    p95_wait      double precision,
    p50_run       double precision,
    p95_run       double precision,
    run_variation double precision
);

comment on type leasehold.queue_rates is 'What happened in a queue in a span, as get_rates sums it up.';
