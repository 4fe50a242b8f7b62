"""Operations of the gateway, read from its OpenAPI document, and which of them agents may use. Pure: no connection is made here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from leasehold.errors import BadInput

LOOKS: tuple[str, ...] = (
    "count_jobs", "list_jobs", "show_job", "explain_job", "show_timeline", "show_errors", "show_logs",
    "list_blockers", "list_key_jobs", "list_chains", "show_chain", "list_queues", "list_limits", "list_capacity",
    "show_capacity", "list_schedules", "show_schedule", "show_all_history", "list_workers", "show_worker",
    "list_audit",
)  # fmt: skip
"""What reads. None of them changes anything."""

CHANGES: dict[str, str | None] = {
    "retry_job": "show_job",
    "cancel_job": "show_job",
    "trigger_job": "show_job",
    "pause_queue": None,
    "resume_queue": None,
    "enable_schedule": "show_schedule",
    "disable_schedule": "show_schedule",
    "trigger_schedule": "show_schedule",
}
"""What changes one thing and can be put right again, each with the look that shows the thing as it is now.

Left out on purpose: whatever deletes, changes many things at once, writes args or code, or handles tokens.
"""

CONFIRM = "confirm"


class ParameterPlace(msgspec.Struct, frozen=True):
    """Where a parameter goes: into the path or the query, there perhaps as JSON."""

    in_path: bool
    as_json: bool
    schema: Mapping[str, Any]
    required: bool


class Operation(msgspec.Struct, frozen=True):
    """One operation of the HTTP API."""

    name: str
    method: str
    path: str
    text: str
    scopes: tuple[str, ...]
    places: Mapping[str, ParameterPlace]

    def schema(self, *, is_change: bool) -> dict[str, Any]:
        """The JSON Schema of a tool's arguments; a change takes a code that confirms it."""
        properties = {name: place.schema for name, place in self.places.items()}
        if is_change:
            properties[CONFIRM] = {
                "type": "string",
                "description": "The code from the first call, once a person agrees.",
            }
        required = [name for name, place in self.places.items() if place.required]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def request(self, arguments: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
        """The path and the query for these arguments.

        Raises:
            BadInput: one is unknown, or one that is needed is missing.
        """
        self._check(arguments)
        path, query = self.path, list[tuple[str, str]]()
        for name, value in arguments.items():
            place = self.places[name]
            if place.in_path:
                path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
            else:
                query += [(name, each) for each in _texts(value, as_json=place.as_json)]
        return path, query

    def _check(self, arguments: Mapping[str, Any]) -> None:
        known = ", ".join(self.places) or "none"
        for name in arguments.keys() - self.places.keys():
            raise BadInput(f"{self.name} takes no argument {name!r}; it takes: {known}")
        for name, place in self.places.items():
            if place.required and name not in arguments:
                raise BadInput(f"{self.name} needs the argument {name!r}; it takes: {known}")


def read_operations(document: Mapping[str, Any], names: Iterable[str]) -> dict[str, Operation]:
    """The operations of these names that the document has, by name."""
    wanted = set(names)
    return {each.name: each for each in _operations(document) if each.name in wanted}


def _operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            places = {
                each["name"]: _place(each)
                for each in described.get("parameters", [])
                if each["in"] in ("path", "query")
            }
            scopes = tuple(scope for each in described.get("security", []) for scope in each.get("token", []))
            text = " ".join(
                part for part in (described["summary"].rstrip(".") + ".", described.get("description")) if part
            )
            yield Operation(described["operationId"], method.upper(), path, text, scopes, places)


def _place(parameter: Mapping[str, Any]) -> ParameterPlace:
    content = parameter.get("content", {}).get("application/json")
    schema = dict(content["schema"] if content else parameter["schema"])
    if "description" in parameter:
        schema["description"] = parameter["description"]
    return ParameterPlace(parameter["in"] == "path", content is not None, schema, parameter.get("required", False))


def _texts(value: Any, *, as_json: bool) -> Iterator[str]:
    if as_json:
        yield json.dumps(value)
    elif isinstance(value, list):
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _texts(each, as_json=False)
    else:
        yield value if isinstance(value, str) else json.dumps(value)
