"""A database that tests use one after another, made as if new."""

from __future__ import annotations

# Not truncate, which makes new files for some hundred tables and indexes; but what an earlier test has blown up is
# truncated: small tables are counted on the spot, big ones are not. Not `alter sequence`, for the same reason.
DELETES = """
delete from leasehold.jobs; delete from leasehold.finished_jobs; delete from leasehold.job_events;
delete from leasehold.idempotency_keys; delete from leasehold.queues; delete from leasehold.workers;
delete from leasehold.job_blockers; delete from leasehold.chain_waiters; delete from leasehold.unique_jobs;
delete from leasehold.unique_claims; delete from leasehold.limits; delete from leasehold.rate_buckets;
delete from leasehold.schedule_ticks; delete from leasehold.schedules; delete from leasehold.limit_turns;
delete from leasehold.job_progress; delete from leasehold.job_logs; delete from leasehold.worker_commands;
delete from leasehold.api_sessions; delete from leasehold.api_tokens; delete from leasehold.audit_log; delete from leasehold.epochs;
delete from leasehold.rollups; delete from leasehold.rollup_totals; delete from leasehold.rollup_progress;
delete from leasehold.rollup_marks; delete from leasehold.queue_depths; delete from leasehold.depth_counts;
delete from leasehold.finished_depths; delete from leasehold.finished_counts;
delete from leasehold.reap_turns; delete from leasehold.id_marks; delete from leasehold.lane_marks; delete from leasehold.payloads;
delete from leasehold.egress_identities; delete from leasehold.sources; delete from leasehold.moved_rows;
delete from leasehold.kinds; delete from leasehold.kind_versions;
"""
RESTARTS = """
declare
    each regclass;
begin
    perform setval(c.oid, 1, false) from pg_class c where c.relnamespace = 'leasehold'::regnamespace and c.relkind = 'S';
    for each in
        select c.oid from pg_class c
         where c.relnamespace = 'leasehold'::regnamespace and c.relkind = 'r' and pg_relation_size(c.oid) > 1000000
    loop
        execute format('truncate %s', each);
    end loop;
end
"""
EMPTIED = f"{DELETES} do $$ {RESTARTS} $$;"
