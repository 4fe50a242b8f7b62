"""Checks of JSON as bytes: how deep it nests, and which values Postgres cannot store."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import cast

from leasehold.gateway.http.problems import Offence

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
