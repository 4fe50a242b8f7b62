"""What a kind promises of its output, and what the catalogue in the database is told of a kind."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from leasehold.errors import BadInput
from leasehold.jobs.endings import ContinueWith
from leasehold.jobs.foreign_types import from_json
from leasehold.jobs.kind import Kind
from leasehold.payloads.claim_checks import find_check

R = TypeVar("R")


def typed_output(kind: Kind[..., R], output: Any) -> R:
    """The output of a chain that a job of this kind began, as the type that its handler is annotated to return.

    `ContinueWith[R]` stands for an `R` that a later job returns. Without an annotation the output is a plain JSON value.

    Raises:
        BadInput: the output does not fit the type, or is the claim check of one.
    """
    try:
        return msgspec.convert(output, output_type(kind), strict=True, str_keys=True, dec_hook=from_json)
    except (msgspec.ValidationError, TypeError) as error:
        if find_check(output) is not None:
            raise BadInput(
                "the output lies in the payload store, which this client does not have: give it payloads=…"
            ) from error
        raise BadInput(f"the output of the chain does not fit what {kind.name} promises: {error}") from error


@lru_cache(maxsize=1024)
def output_type(kind: Kind[..., Any]) -> Any:
    """The type that the handler of a kind is annotated to return; Any if there is none or it cannot be resolved."""
    try:
        hint = get_type_hints(inspect.unwrap(kind.function), include_extras=True).get("return", Any)
    except (NameError, TypeError):
        return Any
    return type(None) if hint is None else _without_continuations(hint)


class Promise:
    """Checks what the handler of a kind returns against its annotation.

    Without an annotation nothing is checked, and neither with `-> None`: the output may be set in a transaction of the job.
    """

    def __init__(self, kind: Kind[..., Any]) -> None:
        self._kind = kind.name
        self._type = output_type(kind)
        self._decoder: msgspec.json.Decoder[Any] | None = None
        members = get_args(self._type) if get_origin(self._type) in (Union, UnionType) else (self._type,)
        self._exact = frozenset(each for each in members if isinstance(each, type))
        if self._type not in (Any, type(None)):
            with suppress(TypeError, NameError):  # no type that can be told from JSON
                self._decoder = msgspec.json.Decoder(self._type, dec_hook=from_json)

    def broken_by(self, output: Any, encoded: bytes) -> str | None:
        """Why this output does not fit the annotation; None if it does. A value of exactly the annotated type is not checked."""
        if self._decoder is None or type(output) in self._exact:
            return None
        try:
            self._decoder.decode(encoded)
        except msgspec.ValidationError as error:
            return f"the output does not fit what {self._kind} is annotated to return, {_name(self._type)}: {error}"
        except (TypeError, RecursionError):
            return None
        return None


@lru_cache(maxsize=1024)
def promise_of(kind: Kind[..., Any]) -> Promise:
    """The check of what the handler of a kind returns."""
    return Promise(kind)


def _name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)


def _without_continuations(hint: Any) -> Any:
    if hint is ContinueWith:
        return Any
    if get_origin(hint) is ContinueWith:
        return _without_continuations(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(_without_continuations(each) for each in get_args(hint))]  # noqa: UP007 - made at run time
    return hint


def typed_blocker(output_type: Any, output: Any, slot: int, chain_id: int) -> Any:
    """The output of a chain that a job waited for, as this type. Raises BadInput, which names the slot and the chain."""
    try:
        return msgspec.convert(output, output_type, strict=True, str_keys=True, dec_hook=from_json)
    except (msgspec.ValidationError, TypeError) as error:
        name = getattr(output_type, "__name__", output_type)
        raise BadInput(f"the output of blocker {slot}, chain {chain_id}, does not fit {name}: {error}") from error


_PLAIN = ("queue", "priority", "max_attempts", "timeout", "deadline", "key", "key_group")
_UNTOLD = "decimal"
"""A string to msgspec's schema, though numbers are read, too."""


def describe_kinds(kinds: Iterable[Kind[..., Any]]) -> list[dict[str, Any]]:
    """What each kind says, as JSON values."""
    return [describe_kind(kind) for kind in kinds]


def describe_kind(kind: Kind[..., Any]) -> dict[str, Any]:
    """What one kind says; what it leaves open is left out."""
    options = kind.options
    fields: dict[str, Any] = {"kind": kind.name}
    fields |= {name: value for name in _PLAIN if (value := getattr(options, name)) is not None}
    for name in ("retry", "unique"):
        if (value := getattr(options, name)) is not None:
            fields[name] = msgspec.to_builtins(value)
    if not kind.takes_any_args and (schema := json_schema(kind.args_type)) is not None:
        fields["args_schema"] = schema
    returned = output_type(kind)
    if returned not in (Any, type(None)) and (schema := json_schema(returned)) is not None:
        fields["output_schema"] = schema
    if options.check_args is False:
        fields["checks_args"] = False
    return fields


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
