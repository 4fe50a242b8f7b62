-- Priorities with ageing: a queue may say how long a job waits for one more.

alter table leasehold.queues
    add column ageing  interval,
    add column aged_at timestamptz,
    add constraint queues_age_by_the_second check (ageing >= interval '1 second');

comment on column leasehold.queues.ageing is 'A pending job gains one priority for each such span that it has waited; null: never.';
comment on column leasehold.queues.aged_at is 'When age_jobs last saw to it.';
