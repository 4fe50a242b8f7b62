from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec
from openapi_spec_validator import validate

from leasehold.gateway.route_table import ROUTES
from leasehold.gateway.routing import documents
from leasehold.gateway.routing.document import alias_document_of, document_of
from leasehold.gateway.routing.documents import FILES, POLICY, VIEWER
from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import running_gateway
from tools.openapi import ALIAS_TARGET, TARGET, render, render_aliases

DOCUMENT: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document_of(ROUTES)))
ALIASES: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(alias_document_of(ROUTES)))
OPERATIONS: dict[tuple[str, str], dict[str, Any]] = {
    (method.upper(), path): operation
    for document in (ALIASES, DOCUMENT)
    for path, found in document["paths"].items()
    for method, operation in found.items()
}


def test_it_is_valid_openapi() -> None:
    validate(DOCUMENT)
    validate(ALIASES)


def test_the_main_document_is_ours_alone() -> None:
    assert not any(path.startswith(("/api/tasks", "/api/job-queue")) for path in DOCUMENT["paths"])
    assert set(DOCUMENT["paths"]) & set(ALIASES["paths"]) == {"/api/schedules", "/api/schedules/{name}"}
    assert "interval_hours" not in str(DOCUMENT)
    assert "interval_hours" in str(ALIASES)
    shared = ALIASES["paths"]["/api/schedules/{name}"]
    assert (shared.keys(), ALIASES["paths"]["/api/schedules"].keys()) == ({"get", "put"}, {"get", "post"})
    assert shared["put"]["deprecated"]


def test_the_committed_document_is_that_of_the_routes() -> None:
    assert TARGET.read_text() == render(), "run python tools/openapi.py"
    assert ALIAS_TARGET.read_text() == render_aliases(), "run python tools/openapi.py"


def test_every_listed_route_is_described_with_all_that_it_can_answer() -> None:
    assert set(OPERATIONS) == {(route.method, route.path) for route in ROUTES if route.is_listed}
    for route in ROUTES:
        if route.is_listed:
            operation = OPERATIONS[route.method, route.path]
            statuses = {route.status, *(each.status for each in (*route.successes, *route.all_errors))}
            assert set(operation["responses"]) == {str(status) for status in statuses}
            assert operation["summary"]
            assert operation["description"]


def test_names_of_operations_are_unique_and_aliases_are_marked() -> None:
    names = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(names)) == len(names)
    aliases = {route.path for route in ROUTES if route.alias_of is not None}
    assert {"/api/tasks", "/api/tasks/{id}", "/api/job-queue/enqueue-state"} <= aliases
    for (_, path), operation in OPERATIONS.items():
        assert operation.get("deprecated", False) == (path in aliases)


def test_every_operation_but_the_open_ones_needs_a_scope() -> None:
    for route in ROUTES:
        if route.is_listed:
            needed = OPERATIONS[route.method, route.path]["security"]
            assert needed == ([{"token": [each.value for each in route.scopes]}] if route.scope else [])


def test_structs_that_are_parameters_are_no_components_and_docstrings_are_taken_apart() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert not [name for name in schemas if name.endswith("Parameters")]
    unique = schemas["Unique"]
    assert "Attributes" not in unique["description"]
    assert unique["properties"]["exclude"]["description"].startswith("ids of chains that do not count")
    assert schemas["JobViewPage"]["properties"]["items"]["items"] == {"$ref": "#/components/schemas/JobView"}


def test_parameters_cannot_be_null_and_json_in_a_query_says_so() -> None:
    parameters = {each["name"]: each for each in OPERATIONS["GET", "/api/jobs"]["parameters"]}
    assert parameters["limit"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50}
    assert parameters["args"]["content"] == {"application/json": {"schema": {"type": "object"}}}
    assert "null" not in str(parameters["state"])


def test_conditions_between_fields_stand_in_the_schema() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["JobBody"]["not"]["required"] == ["delay", "run_at"]
    assert {"anyOf", "properties"} <= set(schemas["EditBody"])


def test_the_document_and_its_viewer_are_served_without_a_token_and_load_nothing_from_elsewhere() -> None:
    with running_gateway(FakeClient()) as gateway:
        served = gateway.call("GET", "/openapi.json")
        assert (served.status, served.body) == (200, DOCUMENT)
        page = gateway.fetch("/docs")
        assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert page.headers["Content-Security-Policy"] == POLICY
        assert not re.search(r"https?://|<style|style=|<script>|onload", page.body.decode())
        for name, media_type in FILES.items():
            file = gateway.fetch(f"/docs/{name}")
            assert (file.status, file.headers["Content-Type"]) == (200, media_type)
            assert file.body == (VIEWER / name).read_bytes()
        assert gateway.call("GET", "/docs/VENDORED.md").status == 404


def test_the_vendored_files_are_what_their_table_says_and_small() -> None:
    table = (VIEWER / "VENDORED.md").read_text()
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        content = (VIEWER / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() in table
        assert b"sourceMappingURL" not in content[-200:]
    assert sum(file.stat().st_size for file in VIEWER.iterdir()) < 2_100_000
    assert Path(documents.__file__).parents[1] == VIEWER.parent
