"""From the bytes of a request to one typed value, or a refusal that names the offending field."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from typing import TypeVar

import msgspec
from aiohttp import web

from leasehold.gateway.http.choices import choices_at
from leasehold.gateway.http.json_scan import exceeds_depth, find_offence
from leasehold.gateway.http.problems import (
    BODY_TOO_LARGE,
    INVALID_INPUT,
    MALFORMED_JSON,
    SLOW_BODY,
    TOO_DEEP,
    UNEXPECTED_BODY,
    UNSUPPORTED_MEDIA_TYPE,
    Offence,
    Refusal,
)
from leasehold.settings import Settings

Body = TypeVar("Body")

JSON_MEDIA_TYPE = "application/json"
CHARSET = "utf-8"
# msgspec says where in its message: "Object contains unknown field `x` - at `$.jobs[0]`".
PLACE = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>\$.*)`)?$", re.DOTALL)
NO_CHOICE = "Invalid enum value"
FIELD = re.compile(r"(?:unknown|missing required) field `(?P<field>.*)`$", re.DOTALL)


class RequestLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one request may cost: bytes, levels of nesting, and seconds.

    `read_seconds` is for a body to arrive, `idle_seconds` for the head of the next request, and `linger_seconds` for
    reading what a refused caller still sends, so that it sees the refusal.
    """

    body_bytes: int
    args_bytes: int
    json_depth: int
    read_seconds: float = 30.0
    idle_seconds: float = 75.0
    linger_seconds: float = 5.0


def limits_of(settings: Settings) -> RequestLimits:
    """The limits that the settings ask for."""
    return RequestLimits(
        body_bytes=settings.max_body_bytes, args_bytes=settings.max_args_bytes, json_depth=settings.max_json_depth
    )


async def read_body(request: web.Request, limits: RequestLimits) -> bytes:
    """The whole body. Refuses what is not plain JSON in UTF-8 by its headers, too large, or too slow."""
    if request.content_type != JSON_MEDIA_TYPE or "Content-Encoding" in request.headers:
        raise Refusal(UNSUPPORTED_MEDIA_TYPE, "Send the body uncompressed, with 'Content-Type: application/json'.")
    if (request.charset or CHARSET).lower() != CHARSET:
        raise Refusal(UNSUPPORTED_MEDIA_TYPE, f"JSON is UTF-8 (RFC 8259), not {request.charset}.")
    if (request.content_length or 0) > limits.body_bytes:
        raise Refusal(BODY_TOO_LARGE, f"The body has {request.content_length} bytes, at most {limits.body_bytes} fit.")
    if request.content.is_eof():  # it came with the head; a timeout costs more than reading it
        return await request.read()
    return await _in_time(request.read(), limits)


async def refuse_body(request: web.Request, limits: RequestLimits) -> None:
    """Refuses a body that the route would not read: what it asks for would be ignored. An empty one is none."""
    if not request.body_exists or request.content_length == 0:
        return
    # A chunked body tells its length at its end only.
    if request.content_length or await _in_time(request.content.read(1), limits):
        raise Refusal(UNEXPECTED_BODY, f"{request.method} {request.path} takes no body and would ignore it; send none.")


async def _in_time(reading: Awaitable[bytes], limits: RequestLimits) -> bytes:
    try:
        async with asyncio.timeout(limits.read_seconds):
            return await reading
    except TimeoutError:
        raise Refusal(SLOW_BODY, f"The body was not complete after {limits.read_seconds:g} s.") from None


def decode_body(decoder: msgspec.json.Decoder[Body], body: bytes, limits: RequestLimits) -> Body:
    """The body, decoded as the type that the route takes. A refusal names the path of the wrong field."""
    if exceeds_depth(body, limits.json_depth):
        raise Refusal(TOO_DEEP, f"The body is nested more than {limits.json_depth} levels deep.")
    try:
        value = decoder.decode(body)
    except msgspec.ValidationError as error:
        raise refuse_shape(error, body, decoder.type) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise refuse_syntax(error, body) from None
    if b"\\u0000" in body and (offence := find_offence(body)):
        raise Refusal(INVALID_INPUT, offence.message, offences=[offence])
    return value


def refuse_shape(error: msgspec.ValidationError, body: bytes, shape: object) -> Refusal:
    """The refusal of JSON with the wrong shape: which field, and what was expected."""
    offence = find_offence(body) or offence_of(error, shape=shape)
    return Refusal(INVALID_INPUT, f"{offence.message} (at {offence.path})", offences=[offence])


def refuse_syntax(error: Exception, body: bytes) -> Refusal:
    """The refusal of a body that is not JSON, or only nearly (NaN, lone surrogates)."""
    if offence := find_offence(body):
        return Refusal(INVALID_INPUT, f"{offence.message} (at {offence.path})", offences=[offence])
    if isinstance(error, UnicodeDecodeError):
        return Refusal(MALFORMED_JSON, "The body is not UTF-8.")
    return Refusal(MALFORMED_JSON, f"{error}.")


def offence_of(error: msgspec.ValidationError, root: str = "$", shape: object = None) -> Offence:
    """The field and the reason in an error of msgspec. `root` replaces `$` if only a part of the body was decoded; `shape`
    is the expected type."""
    found = PLACE.match(str(error))
    what, path = (found["what"], found["path"] or "$") if found else (str(error), "$")
    if what.startswith(NO_CHOICE):
        what += f"; there are {', '.join(choices_at(shape, path))}"
    path = root + path[1:]
    if named := FIELD.search(what):
        path = f"{path}.{named['field']}"
    return Offence(path, what)
