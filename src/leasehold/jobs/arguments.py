"""Args as a handler declares them: how they are decoded, encoded and refused."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, cast, get_args, get_type_hints

import msgspec

from leasehold.errors import InvalidArgs
from leasehold.jobs.foreign_types import (
    ignored_constraint,
    is_model,
    loss_in,
    loss_of,
    nodes_of,
    strange_types,
    to_json,
)
from leasehold.jobs.job import Job

MAX_DEPTH = 100
JSON_TYPES: tuple[type, ...] = (str, int, float, bool, type(None), list, dict)


def takes_job(function: Callable[..., Any]) -> bool:
    """Whether the handler takes the job as its first parameter. Raises InvalidArgs where an annotation has no meaning."""
    hints = _hints(function)  # first: from Python 3.14 on, a signature with an unknown name in it cannot be made
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].kind is parameters[0].KEYWORD_ONLY:
        return False
    hint = hints.get(parameters[0].name)
    return hint is Job or (hint is None and parameters[0].name == "job")


def args_type(function: Callable[..., Any]) -> type[msgspec.Struct]:
    """A Struct with a field for each parameter of the handler except the job.

    Raises:
        InvalidArgs: the signature has *args, **kwargs, positional-only parameters, `self`, the job in another place than
            the first, a type that cannot be made from JSON or loses something in it, or a constraint that nobody would check.
    """
    hints = _hints(function)
    parameters = list(inspect.signature(function).parameters.values())[1 if takes_job(function) else 0 :]
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for parameter in parameters:
        hint = hints.get(parameter.name, Any)
        if problem := _problem(parameter, hint, parameter is parameters[0] and parameter.name not in hints):
            raise InvalidArgs(f"handler {getattr(function, '__qualname__', function)}: {problem}")
        if parameter.default is parameter.empty:
            fields.append((parameter.name, hint))
        else:
            fields.append((parameter.name, hint, _default(parameter.default)))
    name = f"{getattr(function, '__name__', 'handler')}_args"
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)


def check_output(function: Callable[..., Any]) -> None:
    """Refuse a handler that is annotated to return what would lose something in JSON. Raises InvalidArgs."""
    if loss := loss_in(_hints(function).get("return", Any)):
        raise InvalidArgs(f"handler {getattr(function, '__qualname__', function)}: its output: {loss}")


def _problem(parameter: inspect.Parameter, hint: Any, may_be_self: bool) -> str | None:
    """Why JSON cannot give this parameter, and what to do about it; None if it can."""
    name = parameter.name
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        return f"parameter {parameter} has no name in JSON; use a named one"
    if may_be_self and name in ("self", "cls"):
        return f"no job brings {name}; register a function, or a method of an instance: app.kind('pay')(shop.pay)"
    if _mentions_job(hint):
        return f"{name}: Job must come first, be the only one and be annotated with Job alone"
    if stranger := next(_strangers(hint), None):
        return (
            f"{name}: JSON cannot become a {stranger}; take a str or another type that JSON has, and convert it inside"
        )
    if (constraint := ignored_constraint(hint)) is not None:
        return (
            f"{name}: nobody would check {constraint!r:.200}, of pydantic or annotated-types; write a constraint of msgspec, "
            "such as Annotated[int, msgspec.Meta(ge=10)], or take a pydantic model"
        )
    loss = loss_in(hint)
    return loss and f"{name}: {loss}"


def _mentions_job(hint: Any) -> bool:
    return hint is Job or any(_mentions_job(each) for each in get_args(hint))


def _strangers(hint: Any) -> Iterator[str]:
    """The names of the classes in a type that no value decoded from JSON is an instance of."""
    for node in nodes_of(hint):
        if isinstance(node, msgspec.inspect.CustomType) and not _can_be_json(node.cls) and not is_model(node.cls):
            yield node.cls.__qualname__


def _can_be_json(cls: type) -> bool:
    try:
        return any(issubclass(each, cls) for each in JSON_TYPES)
    except TypeError:
        return False


def _default(value: Any) -> Any:
    if isinstance(value, (list, dict, set)):
        return msgspec.field(default_factory=cast("Callable[[], Any]", value.copy))
    return value


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(inspect.unwrap(function), include_extras=True)
    except NameError as error:
        raise InvalidArgs(f"handler {function!r}: annotation cannot be resolved: {error}") from error
    except TypeError as error:
        raise InvalidArgs(f"handler {function!r} is no function; write a def around it") from error


_exact = msgspec.json.Decoder(float_hook=Decimal)


def derived_key(encoded: bytes, place: str, what: str) -> str | None:
    """The key of a job with these args, as the SQL function `derive_key` takes it; None where there is nothing or null.

    Args:
        encoded: the args as JSON.
        place: where the key is in them, such as `args.order_id`.
        what: names the key in the error.

    Raises:
        InvalidArgs: there is an object or a list.
    """
    value: Any = _exact.decode(encoded)
    for name in place.split(".")[1:]:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Decimal():
            plain = f"{value:f}"
            return plain.removeprefix("-") if not value else plain
        case _:
            found = "an object" if isinstance(value, dict) else "a list"
            raise InvalidArgs(f"the {what} comes from {place}, which is {found} and cannot be a key")


def encode_args(value: object, what: str) -> bytes:
    """JSON for args or metadata; `what` names them in the error.

    Raises:
        InvalidArgs: they are nested too deeply, or have NaN, infinity, `\\u0000`, a lone surrogate or a type that JSON does
            not have, or that loses something in it.
    """
    if losses := [loss for cls in strange_types(value) if (loss := loss_of(cls))]:
        raise InvalidArgs(f"{what}: {losses[0]}")
    try:
        encoded = msgspec.json.encode(value, enc_hook=to_json)
        if is_harmless(encoded):
            return encoded
        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=to_json)
        check_json(plain, what)
        return msgspec.json.encode(plain)
    except RecursionError:
        raise InvalidArgs(f"{what}: nested deeper than {MAX_DEPTH}") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgs(f"{what}: {error}") from error


def is_harmless(encoded: bytes) -> bool:
    """Whether JSON from msgspec is known to be valid without `check_json`, which is ten times slower.

    msgspec writes NaN and infinity as null and NUL as \\u0000, and JSON with few brackets is not nested deeply.
    """
    brackets = encoded.count(b"[") + encoded.count(b"{")
    return brackets <= MAX_DEPTH and b"null" not in encoded and b"\\u0000" not in encoded


def check_json(value: object, what: str, depth: int = 0) -> None:
    """Refuse a value that JSON or jsonb cannot hold.

    Raises:
        InvalidArgs: the message has the path of the value.
    """
    if depth > MAX_DEPTH:
        raise InvalidArgs(f"{what[:200]}: nested deeper than {MAX_DEPTH}")
    match value:
        case str():
            if "\x00" in value:
                raise InvalidArgs(f"{what}: \\u0000 cannot be kept in Postgres")
        case float() if not math.isfinite(value):
            raise InvalidArgs(f"{what}: {value} is no JSON number")
        case list():
            for index, item in enumerate(cast("list[object]", value)):
                check_json(item, f"{what}[{index}]", depth + 1)
        case Mapping():
            for name, item in cast("Mapping[str, object]", value).items():
                check_json(name, f"{what} key {name!r}", depth + 1)
                check_json(item, f"{what}.{name}", depth + 1)
        case _:
            return
