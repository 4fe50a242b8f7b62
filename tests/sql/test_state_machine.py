"""The SQL functions against a model of the states of jobs, in orders that Hypothesis thinks up.

All steps of a run are one transaction on one connection, which is rolled back. What the database decides freely (which jobs
a claim gives, whom a crash is charged to) is checked for being allowed; everything else has to be what the model says.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, cast
from uuid import UUID

import asyncpg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.sql_chains import BROKEN, STRANDED
from tests.support.sql_model import DONE, HELD, READY, Model, ModelJob

EPOCH = datetime(2999, 1, 1, tzinfo=UTC)
WORKERS = [UUID(int=n + 1) for n in range(3)]
OUTPUTS = st.sampled_from([None, '"out"', "7"])
SEEDS = st.integers(0, 2**20)
CHANGES = {"replace": "replaced", "extend": "extended", "overwrite": "overwritten"}
STATES = """
select id, state, priority, attempt, spared_attempts, chain_id, chain_position, run_at, output, succeeded_by, crashes,
       max_attempts, args,
       (select json_agg(json_build_array(b.chain_id, b.closed_at is not null, b.output, b.end_state) order by b.slot)
          from leasehold.job_blockers b where b.job_id = a.id) as edges
  from leasehold.all_jobs a
"""
IDLE_KEYS = """
select key, queue, kind from leasehold.jobs j
 where key is not null and state in ('pending', 'waiting')
   and not exists (select from leasehold.jobs h where h.key = j.key and h.incarnation is not null)
 group by key, queue, kind having not bool_or(state = 'pending')
"""

Token = tuple[int, int, int]  # job, attempt, worker
Doc = dict[str, Any]  # a job as enqueue_jobs takes it


class Connection:
    """A connection that a test without a loop of its own can use."""

    def __init__(self, dsn: str) -> None:
        self._runner = asyncio.Runner()
        self._connection: Any = self._runner.run(self._open(dsn))

    async def _open(self, dsn: str) -> Any:
        return await cast("Any", asyncpg).connect(dsn)

    def fetch(self, sql: str, *args: object) -> list[Any]:
        return self._runner.run(self._connection.fetch(sql, *args))

    def call(self, function: str, *args: object) -> list[Any]:
        return self.fetch(
            f"select * from leasehold.{function}({', '.join(f'${n + 1}' for n in range(len(args)))})", *args
        )

    def execute(self, sql: str) -> None:
        self._runner.run(self._connection.execute(sql))

    def close(self) -> None:
        self._runner.run(self._connection.close())
        self._runner.close()


class Jobs(RuleBasedStateMachine):
    """Rules are calls; after each the whole of the database is compared."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self.database = connection
        self.model = Model(0)
        self.tokens: list[Token] = []

    @initialize(seed=SEEDS)
    def begin(self, seed: int) -> None:
        self.database.execute("begin")
        self.tick(1000)
        self.enqueue(seed)

    def teardown(self) -> None:
        try:
            assert [row["rule"] for row in self.database.fetch(BROKEN + STRANDED)] == []
        finally:
            self.database.execute("rollback")

    # Choosing. A rule draws one number and chooses with it: Hypothesis then tries, and leaves out, whole steps.

    def some(self, dice: Random, jobs: Sequence[ModelJob]) -> list[ModelJob]:
        return dice.sample(jobs, min(len(jobs), dice.choice([1, 1, 2, 4])))

    def new_jobs(self, dice: Random, most: int, *, least: int = 0, not_for: int | None = None) -> list[Doc]:
        """Jobs as enqueue_jobs takes them, each with blockers before it or among the chains there are."""
        chains = [chain for chain in self.model.chains()[-12:] if chain != not_for]
        jobs: list[Doc] = []
        for place in range(dice.randint(least, most)):
            blockers: list[Any] = [{"position": n + 1} for n in range(place) if dice.random() < 0.4]
            blockers += dice.sample(chains, min(len(chains), dice.choice([0, 0, 1, 2])))
            blockers = [self.any_end(blocker) if dice.random() < 0.3 else blocker for blocker in blockers]
            jobs.append(
                {
                    "kind": dice.choice("ab"),
                    "key": dice.choice([None, None, None, "x", "y"]),
                    "blockers": blockers or None,
                    "priority": dice.choice([None, 1]),
                    "delay": dice.choice([None, None, None, 10]),
                    "max_attempts": dice.choice([None, None, 1, 2]),
                }
            )
        return jobs

    def any_end(self, blocker: Any) -> Doc:
        return ({"chain": blocker} if isinstance(blocker, int) else blocker) | {"until": "ended"}

    def chains_of(self, blockers: Sequence[Any], ids: Sequence[int]) -> list[tuple[int, bool]]:
        """Blockers as ids, where {"position": n} counts in `ids`; and whether any end of them will do."""
        return [
            (item, False)
            if isinstance(item, int)
            else (item["chain"] if "chain" in item else ids[item["position"] - 1], "until" in item)
            for item in blockers
        ]

    def learn(self, jobs: Sequence[Doc], ids: Sequence[int], before: ModelJob | None = None) -> None:
        """Put new jobs into the model; with `before` the last of them continues its chain."""
        for n, (doc, job_id) in enumerate(zip(jobs, ids, strict=True)):
            blockers = self.chains_of(doc["blockers"] or [], ids)
            is_next = before is not None and n == len(jobs) - 1
            priority = (
                doc["priority"] if doc["priority"] is not None or before is None or not is_next else before.priority
            )
            job = ModelJob(
                id=job_id,
                chain=before.chain if before and is_next else job_id,
                position=before.position + 1 if before and is_next else 0,
                key=doc["key"],
                priority=priority or 0,
                max_attempts=doc["max_attempts"] or 20,
            )
            self.model.add(job, blockers, doc["delay"] or 0)

    def identities(self, jobs: Sequence[ModelJob]) -> tuple[list[int], list[int]]:
        return [job.id for job in jobs], [job.attempt for job in jobs]

    # Rules.

    @rule(seconds=st.sampled_from([1, 10, 60]))
    def tick(self, seconds: int) -> None:
        self.model.now += seconds
        self.database.execute(f"set local leasehold.frozen_clock = '{EPOCH + timedelta(seconds=self.model.now)}'")

    @rule(seed=SEEDS)
    def enqueue(self, seed: int) -> None:
        jobs = self.new_jobs(Random(seed), 5, least=1)
        self.learn(jobs, [row["job_id"] for row in self.database.call("enqueue_jobs", json.dumps(jobs))])

    @rule(seed=SEEDS, policy=st.sampled_from(["existing", "reject", *CHANGES]))
    def enqueue_unique(self, seed: int, policy: str) -> None:
        dice = Random(seed)
        keys = dice.sample("uvw", dice.choice([1, 1, 2]))
        docs: list[Doc] = [
            {
                "kind": dice.choice("ab"),
                "args": {"n": dice.randint(0, 9)},
                "priority": dice.choice([None, 1, 2]),
                "delay": dice.choice([None, None, 10]),
                "unique": {"key": key, "on_conflict": policy},
            }
            for key in keys
        ]
        there = [self.model.unfinished(key) for key in keys]
        if policy == "reject" and any(there):
            self.refused("enqueue_jobs", json.dumps(docs), sqlstate="LH006")
            return
        rows = self.database.call("enqueue_jobs", json.dumps(docs))
        for doc, key, old, row in zip(docs, keys, there, rows, strict=True):
            if old is None:
                job = self.new_unique(doc, key, row["job_id"])
                assert (row["is_new"], row["outcome"]) == (True, "created")
                self.model.add(job, [], doc["delay"] or 0)
            else:
                self.conflict(doc, policy, old)
                expected = "existing" if policy == "existing" or old.state in HELD else CHANGES[policy]
                assert (row["job_id"], row["is_new"], row["outcome"]) == (old.id, False, expected)

    def new_unique(self, doc: Doc, key: str, job_id: int) -> ModelJob:
        return ModelJob(
            id=job_id,
            chain=job_id,
            priority=doc["priority"] or 0,
            max_attempts=20,
            unique=key,
            args=json.dumps(doc["args"]),
        )

    def conflict(self, doc: Doc, policy: str, old: ModelJob) -> None:
        if policy == "existing" or old.state in HELD:
            return
        is_new = policy in ("replace", "overwrite")
        run_at = self.model.now + (doc["delay"] or 0) if policy in ("extend", "overwrite") else None
        self.model.change(
            old,
            args=json.dumps(doc["args"]) if is_new else None,
            priority=doc["priority"] if is_new else None,
            run_at=run_at,
        )

    @rule(worker=st.integers(0, 2), output=OUTPUTS)
    def work_off(self, worker: int, output: str | None) -> None:
        """What a healthy worker does: claim what there is, and complete it."""
        self.claim(worker, 20, 30)
        jobs = self.model.held_by(worker)
        self.complete_these(WORKERS[worker], *self.identities(jobs), jobs, output)

    def complete_these(
        self, worker: UUID, ids: list[int], attempts: list[int], jobs: list[ModelJob], output: str | None
    ) -> None:
        assert self.database.call("complete_jobs", worker, ids, attempts, [output] * len(ids), None) == []
        for job in jobs:
            self.model.finish(job, "completed", output)
        self.model.close([job.chain for job in jobs])

    @rule(worker=st.integers(0, 2), batch=st.sampled_from([1, 3, 20]), lease=st.sampled_from([5, 30]))
    def claim(self, worker: int, batch: int, lease: int) -> None:
        self.model.make_due()
        ready = {job.id: job for job in self.model.of("ready")}
        held = {job.key for job in self.model.of(*HELD) if job.key}
        rows = self.database.call(
            "claim_jobs", WORKERS[worker], f"w{worker}", None, None, batch, timedelta(seconds=lease)
        )
        order = [ready[row["job_id"]] for row in rows]
        # Jobs of a key behind one that is kept apart from other suspects come later, or not at all.
        apart = {job.key for job in ready.values() if job.crashes and job.key} - {
            job.key for job in order if job.crashes
        }
        in_order = [job for job in order if job.key not in apart]
        assert in_order == sorted(in_order, key=lambda job: (-job.priority, job.run_at, job.id))
        keys = [job.key for job in order if job.key]
        assert len(keys) == len(set(keys)), "two jobs of one key in one claim"
        assert not set(keys) & held, "a key that is held"
        for job, row in zip(order, rows, strict=True):
            self.model.claim(job, worker, lease)
            assert row["attempt"] == job.attempt
            self.tokens.append((job.id, job.attempt, worker))
        if len(rows) < batch:  # then nothing is left that it could have had
            taken = held | set(keys) | apart
            left = [job for job in self.model.of("ready") if job.key not in taken and not job.crashes]
            assert left == []

    def settle(self, dice: Random, call: Callable[[UUID, list[int], list[int], list[ModelJob]], None]) -> None:
        """Do something with jobs that some worker holds."""
        workers = sorted({job.holder for job in self.model.of(*HELD) if job.holder is not None})
        worker = dice.choice(workers)
        jobs = self.some(dice, self.model.held_by(worker))
        call(WORKERS[worker], *self.identities(jobs), jobs)

    is_something_held = precondition(lambda self: bool(self.model.of(*HELD)))

    @is_something_held
    @rule(seed=SEEDS)
    def start(self, seed: int) -> None:
        dice = Random(seed)

        def call(worker: UUID, ids: list[int], attempts: list[int], jobs: list[ModelJob]) -> None:
            assert self.database.call("start_jobs", worker, ids, attempts) == []
            for job in jobs:
                job.state = "running"

        self.settle(dice, call)

    @is_something_held
    @rule(seed=SEEDS, output=OUTPUTS)
    def complete(self, seed: int, output: str | None) -> None:
        dice = Random(seed)
        self.settle(dice, lambda worker, ids, attempts, jobs: self.complete_these(worker, ids, attempts, jobs, output))

    @is_something_held
    @rule(seed=SEEDS, output=OUTPUTS, is_alone=st.booleans())
    def go_on(self, seed: int, output: str | None, is_alone: bool) -> None:
        dice = Random(seed)

        def call(worker: UUID, ids: list[int], attempts: list[int], jobs: list[ModelJob]) -> None:
            jobs = jobs[:1] if is_alone else jobs
            plans = [self.new_jobs(dice, 3, not_for=job.chain) for job in jobs]
            nexts = [bool(plan) and dice.random() < 0.5 for plan in plans]
            texts = [
                json.dumps({"jobs": plan[:-1], "next": plan[-1]} if has_next else {"jobs": plan})
                for plan, has_next in zip(plans, nexts, strict=True)
            ]
            if is_alone:
                (row,) = self.database.call("complete_job", ids[0], attempts[0], worker, output, texts[0])
                made = {ids[0]: row[0]}
            else:
                rows = self.database.call("continue_jobs", worker, ids, attempts, texts, [output] * len(ids))
                assert {row["reason"] for row in rows} == {None}
                made = {row["job_id"]: row["new_ids"] for row in rows}
            for job, has_next in zip(jobs, nexts, strict=True):
                self.model.finish(
                    job, "completed", None if has_next else output, made[job.id][-1] if has_next else None
                )
            for job, plan, has_next in zip(jobs, plans, nexts, strict=True):
                self.learn(plan, made[job.id], job if has_next else None)
            self.model.close([job.chain for job, has_next in zip(jobs, nexts, strict=True) if not has_next])

        self.settle(dice, call)

    @is_something_held
    @rule(seed=SEEDS, delay=st.sampled_from([None, 0, 10]))
    def block(self, seed: int, delay: int | None) -> None:
        dice = Random(seed)

        def call(worker: UUID, ids: list[int], attempts: list[int], jobs: list[ModelJob]) -> None:
            (job,) = jobs[:1]
            others = [chain for chain in self.model.chains() if chain != job.chain]
            made = self.new_jobs(dice, 2, not_for=job.chain)
            blockers: list[Any] = [{"position": n + 1} for n in range(len(made))]
            blockers += dice.sample(others, min(len(others), dice.choice([0, 0, 1])))
            wait = json.dumps({"jobs": made, "blockers": blockers, "delay": delay})
            assert self.database.call("block_jobs", worker, ids[:1], attempts[:1], [wait]) == []
            rows = self.database.fetch("select id from leasehold.jobs where id > $1 order by id", max(self.model.jobs))
            new_ids = [row["id"] for row in rows]
            self.learn(made, new_ids)
            self.model.add_edges(job, self.chains_of(blockers, new_ids))
            job.spared += 1
            job.run_at = self.model.now + (delay or 0)
            self.model.settle_into(job)

        self.settle(dice, call)

    @is_something_held
    @rule(seed=SEEDS, wait=st.sampled_from([0, 10]), discard=st.booleans())
    def fail(self, seed: int, wait: int, discard: bool) -> None:
        dice = Random(seed)

        def call(worker: UUID, ids: list[int], attempts: list[int], jobs: list[ModelJob]) -> None:
            errors = ['{"type": "E", "message": "m", "traceback": ""}'] * len(ids)
            self.database.call(
                "fail_jobs", worker, ids, attempts, errors, None, [discard] * len(ids), [float(wait)] * len(ids)
            )
            for job in jobs:
                if discard or self.model.is_last(job):
                    self.model.finish(job, "failed")
                else:
                    self.model.again(job, run_at=self.model.now + wait, is_spared=False)
            self.model.close([job.chain for job in jobs])

        self.settle(dice, call)

    @is_something_held
    @rule(seed=SEEDS, delay=st.sampled_from([None, 0, 10]))
    def give_back(self, seed: int, delay: int | None) -> None:
        dice = Random(seed)

        def call(worker: UUID, ids: list[int], attempts: list[int], jobs: list[ModelJob]) -> None:
            if delay is None:
                assert self.database.call("release_jobs", worker, ids, attempts) == []
            else:
                assert self.database.call("reschedule_jobs", worker, ids, attempts, [float(delay)] * len(ids)) == []
            for job in jobs:
                self.model.again(job, run_at=self.model.now + delay if delay else None, is_spared=True)

        self.settle(dice, call)

    @rule(seed=SEEDS)
    def cancel(self, seed: int) -> None:
        dice = Random(seed)
        jobs = list(self.model.jobs.values())
        job = dice.choice(jobs[-3:])  # not too many: what waits for them waits for ever
        if job.state in DONE:
            complaint = f"job {job.id} is {job.state} and cannot be cancelled"
            self.refused("cancel_job", job.id, sqlstate="LH004", complaint=complaint)
        else:
            self.database.call("cancel_job", job.id)
            self.model.finish(job, "cancelled")
            self.model.close([job.chain])

    @precondition(lambda self: self.model.of("failed", "cancelled", "scheduled"))
    @rule(seed=SEEDS)
    def retry(self, seed: int) -> None:
        dice = Random(seed)
        job = dice.choice(self.model.of("failed", "cancelled", "scheduled"))
        if self.model.unfinished(job.unique) not in (None, job):
            self.refused("retry_job", job.id, sqlstate="LH006")
            return
        self.database.call("retry_job", job.id)
        job.crashes = 0 if job.state != "scheduled" else job.crashes
        self.model.retry(job)

    def refused(self, function: str, argument: object, *, sqlstate: str, complaint: str | None = None) -> None:
        self.database.execute("savepoint refused")
        with pytest.raises(asyncpg.PostgresError) as refused:
            self.database.call(function, argument)
        assert getattr(refused.value, "sqlstate", None) == sqlstate
        assert complaint in (None, str(refused.value))
        self.database.execute("rollback to savepoint refused")

    def reap(self) -> None:
        lost = {job.id: job for job in self.model.of(*HELD) if job.lease_until <= self.model.now}
        rows = self.database.call("reap_jobs")
        assert {row["job_id"]: row["attempt"] for row in rows} == {job.id: job.attempt for job in lost.values()}
        for row in rows:
            job = lost[row["job_id"]]
            if row["state"] == "failed":
                self.model.finish(job, "failed")
            else:
                self.model.again(job, run_at=None, is_spared=False)
            (now,) = self.database.fetch(f"{STATES} where id = $1", job.id)
            assert now["spared_attempts"] - job.spared in (0, 1)
            job.spared, job.crashes = now["spared_attempts"], now["crashes"]
        self.model.close([job.chain for job in lost.values()])

    @rule(function=st.sampled_from(["reap_jobs", "make_jobs_due", "unblock_stranded_jobs", "promote_stranded_jobs"]))
    def upkeep(self, function: str) -> None:
        if function == "reap_jobs":
            self.reap()
            return
        (row,) = self.database.call(function)
        if function == "make_jobs_due":
            self.model.make_due()
        else:
            assert row[0] == 0, "nothing is ever stranded where everything happens one after the other"

    @precondition(lambda self: self.tokens)
    @rule(seed=SEEDS)
    def write_as_a_former_owner(self, seed: int) -> None:
        """Whatever it writes changes nothing, which the comparison afterwards shows."""
        dice = Random(seed)
        held = [(job.id, job.holder) for job in self.model.of(*HELD)]
        older = [token for token in self.tokens if (token[0], token[2]) in held]  # of what the worker holds again
        job_id, attempt, worker = dice.choice(older if older and dice.random() < 0.5 else self.tokens)
        job = self.model.jobs[job_id]
        if job.state in HELD and job.attempt == attempt:
            return
        plan = '{"jobs": [{"kind": "late"}], "next": {"kind": "late"}}'
        for function, more in (
            ("complete_jobs", (['"late"'], None)),
            ("continue_jobs", ([plan], ['"late"'])),
            ("block_jobs", (["{}"],)),
            ("fail_jobs", (['{"type": "late"}'],)),
            ("reschedule_jobs", ([5.0],)),
            ("release_jobs", ()),
            ("start_jobs", ()),
        ):
            rows = self.database.call(function, WORKERS[worker], [job_id], [attempt], *more)
            assert all(row["reason"] or row.get("new_ids", "none") is None for row in rows)

    # After each step.

    @invariant()
    def every_job_is_as_the_model_says(self) -> None:
        rows = {row["id"]: row for row in self.database.fetch(STATES)}
        assert set(rows) == set(self.model.jobs), "jobs were lost, or made of nothing"
        for job_id, job in self.model.jobs.items():
            row = rows[job_id]
            edges = [
                [edge.chain, edge.is_closed, None if edge.output is None else json.loads(edge.output), edge.end_state]
                for edge in job.edges
            ]
            found = (
                "ready" if row["state"] in READY else row["state"],
                row["attempt"],
                row["chain_id"],
                row["chain_position"],
                row["output"],
                row["succeeded_by"],
                row["priority"],
                json.loads(row["edges"] or "[]"),
                row["spared_attempts"],
                row["args"],
            )
            assert found == (
                job.state, job.attempt, job.chain, job.position, job.output, job.next, job.priority, edges, job.spared,
                job.args,
            ), f"job {job_id}"  # fmt: skip
            assert job.state in DONE or row["run_at"] == EPOCH + timedelta(seconds=job.run_at), f"job {job_id}"

    @invariant()
    def no_key_is_stranded(self) -> None:
        assert self.database.fetch(IDLE_KEYS) == [], "a key that nobody holds and whose jobs all wait"


def test_the_database_does_what_the_model_says(database_url: str) -> None:
    connection = Connection(database_url)
    try:
        run_state_machine_as_test(
            cast("Any", lambda: Jobs(connection)),
            settings=settings(
                max_examples=15,
                stateful_step_count=50,
                deadline=None,
                derandomize=bool(os.environ.get("CI")),
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
            ),
        )
    finally:
        connection.close()
