"""Every id that a caller gives is looked at before it goes to the database."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any
from uuid import UUID

import pytest

from leasehold import BulkFilter, Client
from leasehold.database import Database
from leasehold.errors import BadInput
from tools.client_reference import methods, nouns

IDS = {"job_id", "chain_id", "before_id", "after_id", "job_ids", "token_id", "command_id"}
TOO_LARGE = 2**70
OTHERS: dict[str, dict[str, Any]] = {
    "chains.blocked_jobs": {"chain_id": 1},
    "commands.list": {"worker": "w1"},
    "jobs.edit": {"priority": 1},
    "metrics.throughput": {"since": datetime.now(UTC)},
    "commands.acknowledge": {"incarnation": UUID(int=1)},
    "jobs.lock": {"connection": None},
}
"""What else these calls need."""


def calls() -> Iterator[tuple[str, str]]:
    """Public methods, as `cancel` and `jobs.edit`, and their parameters that take ids."""
    for noun, part in {"": Client, **nouns()}.items():
        for name, method in methods(part):
            parameters = inspect.signature(method).parameters
            for parameter in (
                *parameters,
                *(BulkFilter.__annotations__ if "BulkFilter" in str(parameters.get("matching")) else ()),
            ):
                if parameter in IDS:
                    yield f"{noun}.{name}".lstrip("."), parameter


async def call(client: Client, method: str, parameter: str, given: object) -> None:
    arguments: dict[str, Any] = {parameter: [1, given] if parameter == "job_ids" else given}
    arguments |= OTHERS.get(method, {}) if method != "chains.blocked_jobs" or parameter == "after_id" else {}
    await attrgetter(method)(client)(**arguments)


def test_these_are_all_of_them() -> None:
    assert len(set(calls())) == 41


async def test_what_can_be_no_id_is_refused_in_words_of_ours(database: Database) -> None:
    for method, parameter in sorted(set(calls())):
        client = Client(database)
        for given, said in (
            (TOO_LARGE, f"an id is at most {2**63 - 1}, not {TOO_LARGE}"),
            ("7", "an id is a whole number, not '7'"),
            (True, "an id is a whole number, not True"),
            (10**5000, "not one of many more digits"),
        ):
            with pytest.raises(BadInput) as refused:
                await call(client, method, parameter, given)
            assert said in str(refused.value)
            assert refused.value.__cause__ is None


async def test_the_largest_id_is_one(database: Database) -> None:
    assert await Client(database).jobs.blockers(2**63 - 1) == []
