from __future__ import annotations

from typing import Any

import msgspec
import pytest

from leasehold.gateway.compat.heartbeat import EXAMPLE, TaskHeartbeat, heartbeat_of
from leasehold.gateway.compat.tasks import OURS, THEIRS, TaskBody, job_of, message_of, store_of
from leasehold.gateway.http.problems import Refusal

VALUES: dict[str, Any] = {
    "kind": "k", "queue": "q", "dispensary_id": 1, "key": "x", "delay": 1, "max_retries": 1, "max_attempts": 1, "role": "r",
    "scheduled_for": "2025-01-10T06:00:00Z", "run_at": "2025-01-10T06:00:00Z", "payload": {}, "args": {}, "platform": "p",
}  # fmt: skip


def task(**fields: Any) -> TaskBody:
    return msgspec.json.decode(msgspec.json.encode(fields), type=TaskBody)


def test_a_role_is_queue_and_kind_and_brings_the_retries_of_task_workers() -> None:
    job = job_of(task(role="resync", dispensary_id=123, platform="dutchie", payload={"payload_id": 7}))
    assert (job.kind, job.queue, job.key, job.max_attempts) == ("resync", "resync", "123", 4)
    assert (job.metadata, bytes(job.args)) == ({"platform": "dutchie"}, b'{"payload_id":7}')
    assert job_of(task(role="resync", max_retries=0)).max_attempts == 1


def test_new_stores_go_first_unless_a_task_says_otherwise() -> None:
    assert [job_of(task(role=role)).priority for role in ("product_discovery", "entry_point_discovery")] == [10, 10]
    assert job_of(task(role="product_discovery", priority=0)).priority == 0
    assert job_of(task(role="store_discovery")).priority is None  # that of its kind
    assert job_of(task(kind="product_discovery")).priority is None


def test_a_body_in_our_words_stays_as_it_is() -> None:
    job = job_of(task(kind="k", queue="q", key="x", args={"a": 1}))
    assert (job.kind, job.queue, job.key, job.max_attempts, bytes(job.args)) == ("k", "q", "x", None, b'{"a":1}')


@pytest.mark.parametrize("name", OURS)
def test_our_words_do_not_go_with_a_role(name: str) -> None:
    with pytest.raises(Refusal, match=f"does not go with role.*{name}"):
        job_of(task(role="r", **{name: VALUES[name]}))


@pytest.mark.parametrize("name", [name for name in THEIRS if name != "role"])
def test_their_words_do_not_go_with_a_kind(name: str) -> None:
    with pytest.raises(Refusal, match=f"does not go with kind.*{name}"):
        job_of(task(kind="k", **{name: VALUES[name]}))


def test_a_task_without_role_and_kind_and_one_with_platform_and_metadata_are_refused() -> None:
    with pytest.raises(Refusal, match="role"):
        job_of(task(priority=1))
    with pytest.raises(Refusal, match="platform"):
        job_of(task(role="r", platform="a", metadata={"shop": "b"}))


@pytest.mark.parametrize(
    ("key", "store"),
    [
        ("123", 123),
        ("-5", -5),
        ("007", "007"),
        ("shop-1", "shop-1"),
        ("9" * 30, "9" * 30),
        ("", ""),
        (None, None),
        ("²", "²"),
    ],
)
def test_a_key_that_is_a_number_is_shown_as_one(key: str | None, store: int | str | None) -> None:
    assert store_of(key) == store


def test_only_an_error_with_a_message_has_one() -> None:
    assert message_of({"type": "E", "message": "no"}) == "no"
    assert message_of({"type": "E"}) is message_of(None) is message_of("text") is None


def test_the_heartbeat_of_a_task_worker_is_ours_in_other_units() -> None:
    beat = heartbeat_of(msgspec.convert(EXAMPLE, TaskHeartbeat))
    assert (beat.active_jobs, beat.slots, beat.state, beat.backoff) == (3, 3, "ready", None)
    assert (beat.memory, beat.cpu, beat.rss, beat.memory_limit) == (0.5, 0.45, 320 * 2**20, 512 * 2**20)
    assert (beat.cpu_user, beat.cpu_system) == (12.5, 3.2)
    assert beat.incarnation == heartbeat_of(msgspec.convert(EXAMPLE, TaskHeartbeat)).incarnation


def test_a_shorter_heartbeat_will_do_and_one_word_signs_off() -> None:
    assert heartbeat_of(TaskHeartbeat(worker_id="w", current_task_id=1)).active_jobs == 1
    assert heartbeat_of(TaskHeartbeat(worker_id="w", current_task_ids=[1, 2])).active_jobs == 2
    assert heartbeat_of(TaskHeartbeat(worker_id="w", status="decommissioned")).state == "stopped"
