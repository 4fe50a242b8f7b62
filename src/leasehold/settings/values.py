"""From a raw value to a checked one: text is parsed, ranges are enforced, the message tells value, source and range."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast
from urllib.parse import urlsplit

import msgspec
from msgspec import inspect

from leasehold.errors import SettingsError
from leasehold.settings.sources import Given

SWITCHES = {"on": True, "yes": True, "true": True, "1": True, "off": False, "no": False, "false": False, "0": False}
NAME_IN_KUBERNETES = r"^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?\Z"


def convert(name: str, given: Given, annotation: object, show: Callable[[object], str]) -> object:
    """`given` as a value of `annotation`.

    `show` renders the value for the message (secrets masked). Raises SettingsError.
    """
    try:
        kind = _bare(inspect.type_info(annotation))
        value = msgspec.convert(_parse(given, kind), annotation, strict=_is_strict(given, kind))  # pyright: ignore[reportCallIssue, reportArgumentType, reportUnknownVariableType]
        _refuse_non_finite(value)
    except (msgspec.ValidationError, ValueError) as error:
        allowed = describe_allowed(annotation)
        raise SettingsError(
            f"{name} = {show(given.value)} (from {given.origin}) is refused: allowed is {allowed}"
        ) from error
    return cast(object, value)


def dsn_problem(dsn: str) -> str | None:
    """What is wrong with a connection string, in words that do not show it; None if nothing is. Empty means PG*."""
    if not dsn:
        return None
    if not dsn.startswith(("postgresql://", "postgres://")):
        return "must start with postgresql:// or postgres://"
    try:
        hosts = urlsplit(dsn).netloc.rpartition("@")[2].split(",")
    except ValueError as error:
        return f"cannot be read: {error}"
    ports = [host.rpartition("]")[2].partition(":")[2] for host in hosts]
    if any(port and not (port.isascii() and port.isdecimal()) for port in ports):
        return "has a port that is no number; a password with / ? # or @ in it must be percent-encoded"
    return None


def _bare(kind: inspect.Type) -> inspect.Type:
    return _bare(kind.type) if isinstance(kind, inspect.Metadata) else kind


def _is_strict(given: Given, kind: inspect.Type) -> bool:
    # Lax conversion would read the text "null" as None, and so a token of that name as "no token".
    return not given.is_text or isinstance(kind, inspect.UnionType)


def _parse(given: Given, kind: inspect.Type) -> object:
    if given.scale is not None:
        return float(cast(str, given.value)) * given.scale
    return _parse_text(given.value, kind, is_text=given.is_text) if isinstance(given.value, str) else given.value


def _parse_text(value: str, kind: inspect.Type, *, is_text: bool) -> object:
    match kind:
        case inspect.VarTupleType():
            return tuple(part.strip() for part in value.split(",") if part.strip())
        case inspect.BoolType() if is_text:
            return SWITCHES.get(value.lower(), value)
        case inspect.LiteralType():
            return value.lower()
        case inspect.UnionType(types=types) if any(isinstance(_bare(each), inspect.IntType) for each in types):
            return int(value) if is_text and value.isdecimal() else value
        case inspect.UnionType(types=types) if any(isinstance(_bare(each), inspect.FloatType) for each in types):
            return float(value) if is_text else value
        case _:
            return value


def _refuse_non_finite(value: object) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("not a finite number")


def describe_allowed(annotation: object) -> str:
    """The allowed values of an annotation in words, e.g. `a whole number from 1 to 1000`."""
    return _describe(inspect.type_info(annotation))


def _describe(kind: inspect.Type) -> str:  # noqa: PLR0911
    match kind:
        case inspect.BoolType():
            return "on or off"
        case inspect.LiteralType(values=values):
            return ", ".join(str(value) for value in values)
        case inspect.IntType(ge=low, le=high):
            return f"a whole number{_range(('from', low), ('to', high))}"
        case inspect.FloatType(gt=above, ge=low, lt=below, le=high):
            return f"a number{_range(('above', above), ('from', low), ('below', below), ('up to', high))}"
        case inspect.VarTupleType():
            return "a list of names, comma separated"
        case inspect.UnionType(types=types):
            return " or ".join(_describe(each) for each in types if not isinstance(each, inspect.NoneType))
        case inspect.Metadata():
            extra = cast("dict[str, list[str]]", kind.extra_json_schema or {})  # pyright: ignore[reportUnknownMemberType]
            return f"text like {extra['examples'][0]}" if "examples" in extra else _describe(kind.type)
        case _:
            return "text"


def _range(*bounds: tuple[str, float | None]) -> str:
    return "".join(f" {bound_name} {bound:g}" for bound_name, bound in bounds if bound is not None)
