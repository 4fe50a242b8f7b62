"""What schemathesis does differently for us."""

from __future__ import annotations

import os
from typing import Any, cast

import schemathesis
from schemathesis.specs.openapi.checks import use_after_free  # pyright: ignore[reportUnknownVariableType]

KEPT = "/api/jobs/{id}/timeline"
"""It tells who deleted the job."""


@schemathesis.check
def what_is_deleted_is_gone(context: Any, response: Any, case: Any) -> bool | None:
    """`use_after_free`, but for what is kept on purpose."""
    return None if case.operation.path == KEPT else use_after_free(context, response, case)


@schemathesis.hook  # pyright: ignore[reportUnknownMemberType]
def map_body(context: Any, body: Any) -> Any:
    """Integers without a fraction: to JSON Schema 5.0 is one, to us (and to every typed decoder) it is not."""
    return _whole(body)


@schemathesis.hook  # pyright: ignore[reportUnknownMemberType]
def map_path_parameters(context: Any, path_parameters: Any) -> Any:
    """Ids up to FUZZING_IDS, and FUZZING_NAME for names, where these are set: then most requests are about what exists."""
    most, name = int(os.environ.get("FUZZING_IDS", "0")), os.environ.get("FUZZING_NAME")
    if not isinstance(path_parameters, dict) or not most or name is None:
        return cast("Any", path_parameters)
    given = cast("dict[str, Any]", path_parameters)
    return {field: _known(field, value, most, name) for field, value in given.items()}


def _known(field: str, value: Any, most: int, name: str) -> Any:
    if field == "id":
        return int(value) % most + 1 if isinstance(value, int) or str(value).isdecimal() else value
    if field == "key":
        return str(len(str(value)) % most + 1)
    return name if field in ("queue", "schedule") else value


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(each) for name, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_whole(each) for each in cast("list[Any]", value)]
    return value
