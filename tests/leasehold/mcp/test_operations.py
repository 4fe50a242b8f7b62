from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leasehold.errors import BadInput
from leasehold.mcp.operations import CHANGES, CONFIRM, LOOKS, Operation, read_operations

DOCUMENT = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_text())
OPERATIONS = read_operations(DOCUMENT, [*LOOKS, *CHANGES])


def test_every_operation_of_the_catalogue_exists() -> None:
    assert set(OPERATIONS) == {*LOOKS, *CHANGES}


@pytest.mark.parametrize("name", LOOKS)
def test_what_looks_only_reads(name: str) -> None:
    operation = OPERATIONS[name]
    assert operation.method == "GET"
    assert set(operation.scopes) <= {"read", "admin"}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_needs_more_than_the_right_to_read_and_no_body(name: str) -> None:
    operation = OPERATIONS[name]
    assert operation.method == "POST"
    assert "read" not in operation.scopes
    assert "requestBody" not in DOCUMENT["paths"][operation.path]["post"]


def test_nothing_that_deletes_or_handles_tokens_is_offered() -> None:
    assert [name for name in OPERATIONS if "delete" in name or "token" in name or "bulk" in name] == []


REQUESTS: list[tuple[str, dict[str, Any], tuple[str, list[tuple[str, str]]]]] = [
    ("show_job", {"id": 7}, ("/api/jobs/7", [])),
    ("pause_queue", {"queue": "a/b ü", "reason": "why"}, ("/api/queues/a%2Fb%20%C3%BC/pause", [("reason", "why")])),
    ("list_jobs", {"args": {"order": 1}, "limit": 5}, ("/api/jobs", [("args", '{"order": 1}'), ("limit", "5")])),
    ("list_jobs", {"fields": ["kind", "queue"]}, ("/api/jobs", [("fields", "kind"), ("fields", "queue")])),
    ("list_schedules", {"enabled": True}, ("/api/schedules", [("enabled", "true")])),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), REQUESTS)
def test_arguments_become_a_path_and_a_query(name: str, arguments: dict[str, Any], expected: object) -> None:
    assert OPERATIONS[name].request(arguments) == expected


def test_an_argument_that_is_unknown_or_missing_is_refused_with_what_there_is() -> None:
    with pytest.raises(BadInput, match=r"show_job takes no argument 'job'; it takes: id"):
        OPERATIONS["show_job"].request({"id": 1, "job": 2})
    with pytest.raises(BadInput, match=r"show_job needs the argument 'id'"):
        OPERATIONS["show_job"].request({})


def test_only_a_change_takes_a_code() -> None:
    def names(operation: Operation) -> set[str]:
        return set(operation.schema(is_change=operation.name in CHANGES)["properties"])

    assert {name for name, operation in OPERATIONS.items() if CONFIRM in names(operation)} == set(CHANGES)
