from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import trio

from leasehold.actors.attempts.held_job import HeldJob, Holdings
from tests.support.held import INCARNATION, LONG_AGO, held_job


def test_trust_counts_from_before_the_claim_was_asked_for_and_ends_a_margin_before_the_lease() -> None:
    held = held_job(claimed_at=100.0, lease_seconds=60.0)
    assert held.trusted_until == pytest.approx(155.0)
    assert held.renew_at == pytest.approx(120.0)


def test_a_kind_with_a_short_lease_of_its_own_is_renewed_at_a_third_of_it() -> None:
    assert held_job(claimed_at=100.0, lease_seconds=6.0, renew_after=20.0).renew_at == pytest.approx(102.0)


def test_losing_a_job_cancels_its_handler_with_the_first_reason() -> None:
    held = held_job()
    held.scope = trio.CancelScope()
    held.lose("cancelled")
    held.lose("error")
    assert held.lost == "cancelled"
    assert held.scope.cancel_called


def test_a_job_that_has_not_started_can_be_lost() -> None:
    held = held_job()
    held.lose("taken_by_another_worker")
    assert held.lost == "taken_by_another_worker"


def test_a_job_whose_outcome_is_on_its_way_is_not_lost_any_more() -> None:
    held = held_job()
    held.settling = True
    held.lose("error")
    assert held.lost is None


def test_dropping_an_old_attempt_leaves_a_newer_one_of_the_same_job_alone() -> None:
    old, new = held_job(1, attempt=1), held_job(1, attempt=2)
    holdings = Holdings([new])
    holdings.drop(old)
    assert holdings == {1: new}
    holdings.drop(new)
    holdings.drop(new)
    assert holdings == {}


def test_the_handler_sees_the_job_with_its_fencing_token() -> None:
    held = held_job(42, attempt=3, metadata='{"from": "here"}', key="customer 7", priority=5)
    job = held.job("w1")
    assert (job.id, job.attempt, job.incarnation, job.worker_id) == (42, 3, INCARNATION, "w1")
    assert (job.metadata, job.key, job.priority, job.created_at) == ({"from": "here"}, "customer 7", 5, LONG_AGO)


ACTORS = Path(__file__).parents[3] / "actors"


def attributes_in(file: Path, context: type[ast.expr_context]) -> set[str]:
    """Attributes of held jobs that a file writes or reads, by the names that it gives to them."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, context) and node.attr in HeldJob.__slots__:
            owner = ast.unparse(node.value).rsplit(".", 1)[-1].removeprefix("_")
            if owner in {"held", "h", "job_held", "last", "current"}:
                found.add(node.attr)
    return found


def test_the_docstring_says_who_writes_which_attribute_of_a_held_job() -> None:
    text = HeldJob.__doc__ or ""
    said = {file: set(re.findall(r"`(\w+)`", names)) for file, names in re.findall(r"(\w+/\w+\.py): ([^\n]*)", text)}
    files = {str(file.relative_to(ACTORS)): file for file in sorted(ACTORS.rglob("*.py"))}
    written = {name: attributes_in(file, ast.Store) for name, file in files.items()}
    assert {name: names for name, names in written.items() if names} == said


def test_the_docstring_says_what_the_keepers_thread_reads() -> None:
    text = HeldJob.__doc__ or ""
    said = set(re.findall(r"`(\w+)`", text.split("Read in the keeper's thread:")[1]))
    assert attributes_in(ACTORS / "leases" / "keeper.py", ast.Load) == said
