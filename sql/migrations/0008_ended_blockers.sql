-- Blockers that are over however their chain ends: for whoever goes on without a part that failed.

alter table leasehold.job_blockers
    add column until_ended boolean,
    add column end_state   text collate "C",
    add constraint job_blockers_end_states_are_known check (end_state in ('failed', 'cancelled')),
    add constraint job_blockers_only_some_may_fail check (end_state is null or until_ended and closed_at is not null and output is null);

comment on column leasehold.job_blockers.until_ended is 'Closed by any end of the chain; null: only by its completion.';
comment on column leasehold.job_blockers.end_state is 'How the chain ended that did not complete; null: it completed, or is still open.';

drop function if exists leasehold.is_completed(bigint);  -- is_over says it since
