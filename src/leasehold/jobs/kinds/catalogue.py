"""What the catalogue in the database is told of a kind, as `leasehold.declare_kinds` takes it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from leasehold.jobs.kinds.kind import Kind
from leasehold.jobs.kinds.outputs import output_type

_PLAIN = ("queue", "priority", "max_attempts", "timeout", "deadline", "key", "key_group")
_UNTOLD = "decimal"
"""A string to msgspec's schema, though numbers are read, too."""


def describe_kinds(kinds: Iterable[Kind[..., Any]]) -> list[dict[str, Any]]:
    """What each kind says, as JSON values."""
    return [describe_kind(kind) for kind in kinds]


def describe_kind(kind: Kind[..., Any]) -> dict[str, Any]:
    """What one kind says; what it leaves open is left out."""
    options = kind.options
    told: dict[str, Any] = {"kind": kind.name}
    told |= {name: value for name in _PLAIN if (value := getattr(options, name)) is not None}
    for name in ("retry", "unique"):
        if (value := getattr(options, name)) is not None:
            told[name] = msgspec.to_builtins(value)
    if not kind.takes_any_args and (schema := json_schema(kind.args_type)) is not None:
        told["args_schema"] = schema
    returned = output_type(kind)
    if returned not in (Any, type(None)) and (schema := json_schema(returned)) is not None:
        told["output_schema"] = schema
    if options.check_args is False:
        told["checks_args"] = False
    return told


def json_schema(hint: Any) -> dict[str, Any] | None:
    """The JSON Schema of a type; None where msgspec makes none.

    It refuses nothing that can be decoded into the type. A class that reads and writes JSON itself, such as a pydantic model,
    is only named.
    """
    try:
        schema = msgspec.json.schema(hint, schema_hook=_named)
        loosened = cast("dict[str, Any]", _loosened(msgspec.to_builtins(schema)))
    except (TypeError, ValueError, NameError, NotImplementedError, RecursionError):
        return None
    return _unwrapped(loosened)


def _named(cls: type) -> dict[str, Any]:
    return {"title": cls.__name__}


def _loosened(schema: object) -> object:
    if isinstance(schema, list):
        return [_loosened(each) for each in cast("list[object]", schema)]
    if not isinstance(schema, dict):
        return schema
    members = cast("dict[str, object]", schema)
    made = {
        name: value if name in ("default", "enum", "const") else _loosened(value) for name, value in members.items()
    }
    if made.get("type") == "string" and made.get("format") == _UNTOLD:
        made["type"] = ["string", "number"]
    return made


def _unwrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """With the type itself on top, where it is one of `$defs` and nothing else refers to it."""
    definitions: dict[str, Any] = schema.get("$defs", {})
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if schema.keys() != {"$ref", "$defs"} or name not in definitions:
        return schema
    others = {each: value for each, value in definitions.items() if each != name}
    top = cast("dict[str, Any]", definitions[name])
    if schema["$ref"] in _references(definitions):
        others = definitions
    return {**top, "$defs": others} if others else dict(top)


def _references(schema: object) -> set[str]:
    if isinstance(schema, list):
        return set[str]().union(*(_references(each) for each in cast("list[object]", schema)))
    if not isinstance(schema, dict):
        return set()
    members = cast("dict[str, object]", schema)
    own = {ref} if isinstance(ref := members.get("$ref"), str) else set[str]()
    return own.union(*(_references(value) for value in members.values()))
