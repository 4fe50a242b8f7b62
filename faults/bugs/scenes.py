"""What happens in each scene. They are written so that correct code comes through them without a finding."""

from __future__ import annotations

import json
from typing import Any

import psycopg

from faults.bugs.scene import LEASE, Job, Scene

GATE = 4711  # an advisory lock at which a patched function waits


def zombie(scene: Scene) -> tuple[Any, Any, Job, Job]:
    """One worker loses its lease and another one gets the job; the two hands, and their attempts."""
    old, new = scene.worker("old"), scene.worker("new")
    scene.enqueue()
    lost = old.claim_one()
    scene.later(LEASE + 1)
    scene.reap()
    held = new.claim_one()
    return old, new, lost, held


def renews_what_it_lost(scene: Scene) -> None:
    """A stopped worker wakes up and renews."""
    old, new, lost, held = zombie(scene)
    scene.later(2)
    old.renew(lost)
    new.complete(held)


def completes_again_as_itself(scene: Scene) -> None:
    """A worker loses a job, claims it again, and its first handler ends only then."""
    worker = scene.worker("w")
    scene.enqueue()
    first = worker.claim_one()
    scene.later(LEASE + 1)
    scene.reap()
    second = worker.claim_one()
    worker.complete(first)
    worker.complete(second)


def fails_twice(scene: Scene) -> None:
    """The reply to a failure is lost, the settler sends it again, and by then somebody else runs the job."""
    first, second = scene.worker("w1"), scene.worker("w2")
    scene.enqueue("stumble")
    job = first.claim_one()
    first.fail(job)
    held = second.claim_one()
    first.fail(job)
    second.complete(held)
    scene.drain()


def releases_what_it_lost(scene: Scene) -> None:
    """A stopped worker wakes up and hands its jobs back."""
    old, new, lost, held = zombie(scene)
    old.release(lost)
    new.complete(held)
    scene.drain()


def outlives_a_failover(scene: Scene) -> None:
    """The commit of a claim is lost with the primary; the same job and attempt go to another incarnation."""
    old, new = scene.worker("old"), scene.worker("new")
    scene.enqueue()
    with old.connection.transaction(force_rollback=True):
        lost = old.claim_one()
    held = new.claim_one()
    old.complete(lost)
    new.complete(held)


def reaps_what_is_renewed(scene: Scene) -> None:
    """A lease is renewed between the reaper's look and its deed."""
    worker, reaper, gate = scene.worker("w"), scene.hand("reaper"), scene.hand("gate")
    scene.enqueue()
    job = worker.claim_one()
    scene.later(LEASE + 1)
    gate.ask("select pg_advisory_lock(%s)", GATE)
    with worker.connection.transaction():
        worker.renew(job)
        thread = scene.at_once(lambda: reaper.ask("select * from leasehold.reap_jobs()"), reaper)
    gate.ask("select pg_advisory_unlock(%s)", GATE)
    thread.join()
    worker.complete(job)
    scene.drain()


def two_schedulers(scene: Scene) -> None:
    """Both have found the same tick to be due."""
    scene.stranger.ask(
        "select leasehold.create_schedule(%s::jsonb)", json.dumps({"name": "tick", "every": 60, "kind": "ticked"})
    )
    [found] = scene.stranger.ask("select * from leasehold.list_due_schedules()")
    schedulers = [scene.hand(f"scheduler-{n}") for n in range(2)]
    due = scene.now.isoformat()
    scene.stranger.ask(
        "update leasehold.schedules set next_run_at = %s, planned_revision = revision where id = %s", due, found["id"]
    )
    tick = {"at": due, "outcome": "fired"}
    fire = {"id": found["id"], "revision": found["revision"], "expected": due, "next": None, "ticks": [tick]}
    for scheduler in schedulers:
        scheduler.ask("select * from leasehold.fire_schedules(%s::jsonb)", json.dumps([fire]))
    scene.drain()


def two_jobs_of_a_key(scene: Scene) -> None:
    """They are of different kinds, so both are pending; one runs, and another worker is free."""
    first, second = scene.worker("w1"), scene.worker("w2")
    scene.enqueue(key="k")
    scene.enqueue("link", key="k")
    held = first.claim_one()
    for job in second.claim():
        second.complete(job)
    first.complete(held)
    scene.drain()


def two_of_a_unique_key(scene: Scene) -> None:
    """Two clients enqueue at the same moment."""
    first, second = scene.hand("c1"), scene.hand("c2")
    with first.connection.transaction():
        scene.enqueue(hand=first, unique={"key": "u"})
        thread = scene.at_once(lambda: scene.enqueue(hand=second, unique={"key": "u"}), second)
    thread.join()
    scene.drain()


def blocked_by_a_chain(scene: Scene) -> None:
    """The chain completes."""
    worker = scene.worker("w")
    blocker = scene.enqueue()
    scene.enqueue("fan_in", blockers=[blocker])
    worker.complete(worker.claim_one())
    scene.drain()


def claimed_while_blocked(scene: Scene) -> None:
    """A worker asks for work while the blocker still runs."""
    worker = scene.worker("w")
    blocker = scene.enqueue()
    scene.enqueue("fan_in", blockers=[blocker])
    scene.stranger.ask("select * from leasehold.unblock_stranded_jobs()")
    held = worker.claim(10)
    worker.complete(*held)
    scene.drain()


def pays_after_it_lost(scene: Scene) -> None:
    """A stopped worker wakes up in the middle of the transaction that completes its job."""
    old, new, lost, held = zombie(scene)
    pay(old, lost)
    new.complete(held)
    scene.drain()


def pay(hand: Any, job: Job) -> None:
    """An effect and a completion in one commit, where the completion does not object."""
    try:
        with hand.connection.transaction():
            hand.ask("insert into public.effects (job_id, attempt) values (%s, %s)", job["job_id"], job["attempt"])
            hand.ask(
                "select leasehold.complete_job(%s, %s, %s, %s::jsonb)",
                job["job_id"], job["attempt"], hand.incarnation, hand.token(job),
            )  # fmt: skip
    except psycopg.Error:
        pass  # refused: the effect is undone with it


def two_claims_of_a_limit(scene: Scene) -> None:
    """Two workers claim at the same moment from a queue that lets one job run."""
    first, second = scene.worker("w1"), scene.worker("w2")
    scene.stranger.ask("select leasehold.set_limit('limited', max_running => 1)")
    for _ in range(2):
        scene.enqueue(queue="limited")
    with first.connection.transaction():
        held = first.claim(1, "limited")
        others = second.claim(1, "limited")
    first.complete(*held)
    if others:
        second.complete(*others)
    scene.drain()


def a_burst_of_starts(scene: Scene) -> None:
    """More jobs than a rate allows, and workers enough."""
    worker = scene.worker("w")
    scene.stranger.ask("select leasehold.set_limit('limited', rate => 1, burst => 2)")
    for _ in range(6):
        scene.enqueue(queue="limited")
    for _ in range(3):
        worker.complete(*worker.claim(10, "limited"))
        scene.later(0.5)
    for _ in range(8):
        scene.later(1)
        worker.complete(*worker.claim(10, "limited"))


def one_attempt(scene: Scene) -> None:
    """A job that may be tried once fails."""
    worker = scene.worker("w")
    scene.enqueue("stumble", max_attempts=1)
    worker.fail(worker.claim_one())
    for job in worker.claim():
        worker.complete(job)
    scene.drain()


def not_before(scene: Scene) -> None:
    """A job for later, and a worker that is free now."""
    worker = scene.worker("w")
    scene.enqueue(delay=5)
    for job in worker.claim():
        worker.complete(job)
    scene.drain()


def works(scene: Scene) -> None:
    """One job, as it should be."""
    worker = scene.worker("w")
    scene.enqueue("stumble")
    scene.enqueue("stumble")
    worker.complete(worker.claim_one())
    worker.fail(worker.claim_one())
    scene.drain()


def retried(scene: Scene) -> None:
    """A job fails for good, and somebody retries it."""
    worker = scene.worker("w")
    job = scene.enqueue("stumble", max_attempts=1)
    worker.fail(worker.claim_one())
    scene.later(1)
    scene.stranger.ask("select leasehold.retry_job(%s)", job)
    worker.complete(worker.claim_one())


def asks_twice(scene: Scene) -> None:
    """The reply to an enqueue is lost, and the client asks again with the same idempotency key."""
    for _ in range(2):
        with scene.call("enqueue", subject="idempotent r1") as ids:
            doc = json.dumps([{"kind": "plain", "idempotency_key": "r1"}])
            [row] = scene.stranger.ask("select job_id from leasehold.enqueue_jobs(%s::jsonb)", doc)
            ids.append(row["job_id"])
    scene.drain()
