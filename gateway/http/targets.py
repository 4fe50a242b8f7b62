"""Reads the head of a request: the parameters in path and query, and the media types that it accepts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

import msgspec
from aiohttp import web
from msgspec import inspect

from leasehold.gateway.http.problems import NOT_ACCEPTABLE, NOT_FOUND, ProblemType, Refusal, refuse_field
from leasehold.gateway.http.reading import members, offence_of, types_of

DATE = re.compile(r"\d{4}-", re.ASCII)
INTEGER = re.compile(r"-?\d+", re.ASCII)


class NoParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A route without parameters."""


NOTHING = NoParameters()
ANY = "*/*"


def read_parameters(
    request: web.Request, parameters: type[msgspec.Struct], errors: Sequence[ProblemType]
) -> msgspec.Struct:
    """Path and query as the route's Struct. An invalid value in the path is not found, one in the query is refused."""
    if parameters is NoParameters and not request.query_string:
        return NOTHING
    given = {**_read_query(request, parameters), **request.match_info}
    try:
        asked = msgspec.convert(given, parameters, strict=False)
    except msgspec.ValidationError as error:
        offence = offence_of(error, "query", parameters)
        if offence.path.removeprefix("query.") in request.match_info:
            raise not_found(errors) from None
        raise refuse_field(offence.path, offence.message) from None
    attributes = dict(zip(parameters.__struct_encode_fields__, parameters.__struct_fields__, strict=True))
    for name, text in given.items():
        value = getattr(asked, attributes[name])
        # What msgspec reads leniently: `state=null`, `1e0` as 1, and seconds since 1970 where a time is wanted.
        if value is None:
            raise refuse_field(f"query.{name}", "It may be left out, but it cannot be null")
        if type(value) is int and not INTEGER.fullmatch(text):
            if name in request.match_info:
                raise not_found(errors)
            raise refuse_field(f"query.{name}", "It is no integer")
        if isinstance(value, datetime) and not DATE.match(text):
            raise refuse_field(f"query.{name}", "It is no time of RFC 3339")
    return asked


def not_found(errors: Sequence[ProblemType]) -> Refusal:
    """The route's own 404, or the general one."""
    return Refusal(next((each for each in errors if each.status == 404), NOT_FOUND))


def _read_query(request: web.Request, parameters: type[msgspec.Struct]) -> dict[str, Any]:
    """The query by name. Only lists may repeat a name: `state=failed&state=cancelled` or `state=failed,cancelled`."""
    query, lists = request.query, lists_of(parameters)
    given: dict[str, Any] = {}
    for name in query:
        values = query.getall(name)
        if name not in parameters.__struct_encode_fields__:
            raise refuse_field(f"query.{name}", _describe_known(request, parameters))
        if name in lists:
            given[name] = [part for value in values for part in value.split(",")]
        elif len(values) > 1:
            raise refuse_field(f"query.{name}", "It is given more than once")
        elif name in request.match_info:
            raise refuse_field(f"query.{name}", "It stands in the path")
        else:
            given[name] = values[0]
    return given


def _describe_known(request: web.Request, parameters: type[msgspec.Struct]) -> str:
    known = [name for name in parameters.__struct_encode_fields__ if name not in request.match_info]
    there_are = f"there are {', '.join(known)}" if known else "this address takes none"
    return f"There is no query parameter of this name; {there_are}"


@cache
def lists_of(parameters: type[msgspec.Struct]) -> frozenset[str]:
    """The parameters that may be given more than once."""
    lists = (inspect.ListType, inspect.VarTupleType)
    fields = (
        field for shape in types_of(parameters) if isinstance(shape, inspect.StructType) for field in shape.fields
    )
    return frozenset(each.encode_name for each in fields if any(isinstance(one, lists) for one in members(each.type)))


def check_accept(request: web.Request, media_type: str) -> None:
    """Refuses a request whose Accept header excludes the media type of the answer."""
    accept = request.headers.get("Accept")
    if accept is None or media_type == ANY or accept in (ANY, media_type) or accepts(accept, media_type):
        return
    raise Refusal(NOT_ACCEPTABLE, f"This address answers {media_type.partition(';')[0]} only.")


def accepts(accept: str, media_type: str) -> bool:
    """Whether an Accept header (RFC 9110 §12.5.1) allows a media type: by the most specific range that fits."""
    wanted = media_type.partition(";")[0]
    quality = {"*/*": None, f"{wanted.partition('/')[0]}/*": None, wanted: None}
    for part in accept.split(","):
        name, *parameters = (each.strip().lower() for each in part.split(";"))
        if name in quality:
            quality[name] = _quality(parameters)  # pyright: ignore[reportArgumentType]
    return bool(next((each for each in reversed(quality.values()) if each is not None), not accept.strip()))


def _quality(parameters: Sequence[str]) -> float:
    for each in parameters:
        name, _, value = each.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 1.0
    return 1.0
