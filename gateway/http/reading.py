"""What is wrong with a body or a query that is refused: where, and what may stand there. And the limits of a request."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import cast

import msgspec
from msgspec import inspect

from leasehold.gateway.http.problems import MALFORMED_JSON, Offence, Refusal, refuse_field
from leasehold.settings import Settings

STEP = re.compile(r"\.(\w+)|\[[^]]*\]")


def choices_at(shape: object, path: str) -> list[str]:
    """The values that a path such as `$.unique.on_conflict` may have in a body of type `shape`; empty if any value fits."""
    found = types_of(shape)
    for name in STEP.findall(path):
        found = [member for each in found for inner in _inside(each, name) for member in members(inner)]
    return [str(value) for each in found if isinstance(each, inspect.LiteralType) for value in each.values]


@cache
def types_of(shape: object) -> list[inspect.Type]:
    """What a value of this type may be."""
    return list(members(inspect.type_info(shape)))


def members(shape: inspect.Type) -> Iterable[inspect.Type]:
    """What it may be: a union is any of its types."""
    if isinstance(shape, inspect.Metadata):
        yield from members(shape.type)
    elif isinstance(shape, inspect.UnionType):
        for each in shape.types:
            yield from members(each)
    else:
        yield shape


def _inside(shape: inspect.Type, name: str) -> Iterable[inspect.Type]:
    """The types of the field of this name or, without a name, of the items of a list."""
    if isinstance(shape, inspect.StructType):
        yield from (field.type for field in shape.fields if field.encode_name == name)
    elif isinstance(shape, (inspect.ListType, inspect.VarTupleType)) and not name:
        yield shape.item_type


STRINGS = re.compile(rb'"[^"]*"')
TO_SQUARE = bytes.maketrans(b"{}", b"[]")
ALL_BUT_STRUCTURE = bytes(set(range(256)) - set(b'"[]{}'))
SURROGATES = re.compile("[\ud800-\udfff]")
# CPython refuses to turn longer numerals into an int, and so would every worker that reads the job.
LONGEST_INTEGER = 4300


class _Unreadable:
    """Stands in a decoded document for something that is not a JSON number (NaN, Infinity)."""

    def __init__(self, message: str) -> None:
        self.message = message


def exceeds_depth(document: bytes, limit: int) -> bool:
    """Whether objects and arrays nest more than `limit` levels, found without recursion.

    Exact up to the first syntax error, where a decoder stops, too.
    """
    if document.count(b"[") + document.count(b"{") <= limit:
        return False
    brackets = _only_brackets(document)
    for _ in range(limit):
        if b"[]" not in brackets:
            break
        brackets = brackets.replace(b"[]", b"")
    return b"[]" in brackets or brackets.count(b"[") > limit


def find_offence(document: bytes, root: str = "$") -> Offence | None:
    """The first value that is not JSON, or that Postgres or a worker cannot read. None if all values are fine, or if the
    document cannot be read at all. Its depth must have been checked. `root` is its own path."""
    text = document.decode("utf-8", errors="surrogateescape")
    try:
        value = json.loads(text, parse_constant=_no_number, parse_int=_integer, parse_float=_float)
    except (ValueError, RecursionError):
        return None
    return next(_offences(value, root), None)


def _only_brackets(document: bytes) -> bytes:
    """The brackets outside of strings, braces made square: then each pass over `[]` takes away one level."""
    if b"\\" in document:
        document = document.replace(b"\\\\", b"").replace(b'\\"', b"")
    structure = document.translate(TO_SQUARE, ALL_BUT_STRUCTURE)
    return STRINGS.sub(b"", structure.replace(b'""', b""))


def _offences(value: object, path: str) -> Iterator[Offence]:
    match value:
        case str():
            yield from _text_offences(value, path)
        case _Unreadable():
            yield Offence(path, value.message)
        case dict():
            for name, each in cast("dict[str, object]", value).items():
                yield from _text_offences(name, path)
                yield from _offences(each, f"{path}.{name}")
        case list():
            for index, each in enumerate(cast("list[object]", value)):
                yield from _offences(each, f"{path}[{index}]")
        case _:
            pass


def _text_offences(text: str, path: str) -> Iterator[Offence]:
    if "\0" in text:
        yield Offence(path, "Postgres cannot keep the character U+0000")
    elif SURROGATES.search(text):
        yield Offence(path, "A surrogate without its partner is no character")


def _no_number(name: str) -> _Unreadable:
    return _Unreadable(f"{name} is no JSON number")


def _integer(numeral: str) -> object:
    return _Unreadable("The number has too many digits") if len(numeral) > LONGEST_INTEGER else 0


def _float(numeral: str) -> object:
    return _Unreadable("The number is out of range") if math.isinf(float(numeral)) else 0.0


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


def refuse_shape(error: msgspec.ValidationError, body: bytes, shape: object) -> Refusal:
    """The refusal of JSON with the wrong shape: which field, and what was expected."""
    offence = find_offence(body) or offence_of(error, shape=shape)
    return refuse_field(offence.path, offence.message)


def refuse_syntax(error: Exception, body: bytes) -> Refusal:
    """The refusal of a body that is not JSON, or only nearly (NaN, lone surrogates)."""
    if offence := find_offence(body):
        return refuse_field(offence.path, offence.message)
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
