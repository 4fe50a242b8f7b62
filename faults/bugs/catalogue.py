"""All bugs."""

from __future__ import annotations

from faults.bugs import scenes
from faults.bugs.bug import Bug, Patch

BUGS: tuple[Bug, ...] = (
    Bug(
        "renewals are not guarded",
        "renew_leases looks at the id alone, so a worker that lost a job prolongs the lease of the next one",
        scenes.renews_what_it_lost,
        ("I5",),
        (
            Patch(
                "lease/renew_leases.sql",
                "where j.attempt = r.attempt and j.incarnation = renew_leases.incarnation and j.id",
                "where j.id",
            ),
        ),
    ),
    Bug(
        "completions forget the attempt",
        "complete_jobs compares the incarnation alone",
        scenes.completes_again_as_itself,
        ("I5",),
        (Patch("settle/complete_jobs.sql", "and j.attempt = e.attempt and j.incarnation", "and j.incarnation"),),
    ),
    Bug(
        "epochs are ignored",
        "complete_jobs compares the attempt alone, which a failover gives out twice",
        scenes.outlives_a_failover,
        ("I5",),
        (Patch("settle/complete_jobs.sql", "and j.incarnation = complete_jobs.incarnation", ""),),
    ),
    Bug(
        "a repeated settlement is not guarded",
        "fail_jobs takes effect again when the settler repeats it after a lost reply",
        scenes.fails_twice,
        ("I5", "I3"),
        (
            Patch(
                "settle/fail_jobs.sql",
                "where j.attempt = f.attempt and j.incarnation = fail_jobs.incarnation and j.id",
                "where j.id",
            ),
        ),
    ),
    Bug(
        "hand-backs are not guarded",
        "return_jobs takes a job away from whoever holds it now",
        scenes.releases_what_it_lost,
        ("I5",),
        (
            Patch(
                "settle/return_jobs.sql",
                "where j.attempt = r.attempt and j.incarnation = return_jobs.incarnation and j.id",
                "where j.id",
            ),
        ),
    ),
    Bug(
        "the reaper does not look again",
        "reap_jobs finds expired leases without a lock, and takes them later without a second look",
        scenes.reaps_what_is_renewed,
        ("I5",),
        (
            Patch(
                "lease/expiry/reap_jobs.sql",
                "limit reap_jobs.batch for update skip locked);",
                "limit reap_jobs.batch);\n    perform pg_advisory_xact_lock(4711);",
            ),
        ),
    ),
    Bug(
        "a tick fires twice",
        "fire_schedules trusts the scheduler that the tick is still due, and no key holds it unique",
        scenes.two_schedulers,
        ("I11",),
        (
            Patch(
                "schedules/ticks/fire_schedules.sql",
                "and s.next_run_at = v_fire.expected and s.next_run_at <= v_now",
                "",
            ),
        ),
        "alter table leasehold.schedule_ticks drop constraint schedule_ticks_happen_once",
    ),
    Bug(
        "the index of keys is dropped",
        "demote_keyed_jobs does not look for the holder of a key, and no index stops two of them",
        scenes.two_jobs_of_a_key,
        ("I9",),
        (
            Patch(
                "claim/demote_keyed_jobs.sql",
                "where h.key = c.key and h.incarnation is not null limit 1) is null as is_free",
                "where false limit 1) is null as is_free",
            ),
        ),
        "drop index leasehold.jobs_one_holder_per_key",
    ),
    Bug(
        "unique by look",
        "claim_unique_keys looks whether somebody has the key, and no index decides",
        scenes.two_of_a_unique_key,
        ("I9",),
        (
            Patch(
                "jobs/unique/claim_unique_keys.sql",
                'order by k.unique_key collate "C"\n            on conflict do nothing',
                "where not exists (select from leasehold.unique_jobs u where u.unique_key = k.unique_key)",
            ),
        ),
        "alter table leasehold.unique_jobs drop constraint unique_jobs_pkey",
    ),
    Bug(
        "the release of a blocked job is lost",
        "close_chains closes the edges and leaves the job blocked; nobody looks for it",
        scenes.blocked_by_a_chain,
        ("I8",),
        (
            Patch("chains/close_chains.sql", "else leasehold.unblock_jobs(v_blocked) end", "else '{}' end"),
            Patch("chains/blockers/unblock_stranded_jobs.sql", "where j.state = 'blocked' and", "where false and"),
        ),
    ),
    Bug(
        "blockers do not block",
        "an open chain counts as over when the sweep for stranded jobs comes",
        scenes.claimed_while_blocked,
        ("I10",),
        (
            Patch(
                "chains/blockers/unblock_jobs.sql", "and not leasehold.is_over(b.chain_id, b.until_ended)", "and false"
            ),
            Patch("chains/blockers/unblock_jobs.sql", "end_state = nullif(t.state, 'completed')", "end_state = null"),
            Patch(
                "chains/blockers/unblock_stranded_jobs.sql",
                "(select o.id from leasehold.jobs o where o.id = e.chain_id and o.chain_id is null limit 1) is null",
                "true",
            ),
            Patch(
                "chains/blockers/unblock_stranded_jobs.sql",
                "and not leasehold.is_over(b.chain_id, b.until_ended)",
                "and false",
            ),
        ),
    ),
    Bug(
        "effects outside the transaction",
        "complete_job answers a refusal as if it were none, so what the handler has written is committed without its completion",
        scenes.pays_after_it_lost,
        ("I7",),
        (Patch("settle/complete_job.sql", "if v_new is null then", "if false then"),),
    ),
    Bug(
        "a limit that two claims pass at once",
        "limit_lanes counts without the lock of the queue, as a counter does that is read and then written",
        scenes.two_claims_of_a_limit,
        ("I15",),
        (
            Patch(
                "limits/limit_lanes.sql",
                "and not pg_try_advisory_xact_lock(leasehold.queue_lock(v_lanes.queue)) then",
                "and false then",
            ),
        ),
    ),
    Bug(
        "tokens are not spent",
        "spend_from_buckets returns before it has taken any",
        scenes.a_burst_of_starts,
        ("I15",),
        (
            Patch(
                "limits/buckets/spend_from_buckets.sql",
                "if not exists (select from leasehold.limits l where l.rate is not null) then",
                "if true then",
            ),
        ),
    ),
    Bug(
        "attempts are not counted at the claim",
        "claim_jobs leaves the attempt as it is, so two holders have one token",
        scenes.works,
        ("I3",),
        (
            Patch(
                "claim/claim_jobs.sql",
                "attempt = j.attempt + 1, claimed_at",
                "attempt = greatest(j.attempt, 1), claimed_at",
            ),
        ),
    ),
    Bug(
        "failures have no end",
        "fail_jobs does not look at max_attempts",
        scenes.one_attempt,
        ("I12",),
        (
            Patch(
                "settle/fail_jobs.sql",
                "coalesce(f.discard, false) or j.attempt - j.spared_attempts >= j.max_attempts",
                "coalesce(f.discard, false)",
            ),
        ),
    ),
    Bug(
        "jobs start before their time",
        "claims take scheduled jobs a minute early",
        scenes.not_before,
        ("I13",),
        (
            Patch("claim/claim_jobs.sql", "j.state = 'scheduled' and j.run_at <= v_now", "j.state = 'scheduled'"),
            Patch("claim/make_jobs_due.sql", "j.run_at <= v_now", "j.run_at <= v_now + interval '1 minute'"),
        ),
    ),
    Bug(
        "a retry leaves the old end",
        "reopen_jobs makes the job again and keeps its row among the finished ones",
        scenes.retried,
        ("I6",),
        (
            Patch(
                "jobs/change/reopen_jobs.sql",
                "delete from leasehold.finished_jobs f\n         where",
                "select f.* from leasehold.finished_jobs f\n         where",
            ),
            Patch("jobs/change/reopen_jobs.sql", "\n        returning f.*\n", "\n"),
        ),
    ),
    Bug(
        "idempotency keys are forgotten",
        "the row that remembers a key is lost",
        scenes.asks_twice,
        ("I2",),
        (),
        "create function watch.forget() returns trigger language plpgsql as $$"
        " begin delete from leasehold.idempotency_keys; return null; end $$;"
        "create trigger a_bug after insert on leasehold.idempotency_keys for each row execute function watch.forget()",
    ),
)
