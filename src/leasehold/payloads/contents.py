"""What may be saved as a payload, as pieces of bytes."""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from leasehold.errors import BadInput
from leasehold.payloads.stores.blob_store import CHUNK

JSON = "application/json"
OCTETS = "application/octet-stream"
ODD_NUMBER = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]", re.DOTALL)
"""How NaN and the infinities begin in MessagePack: a double whose exponent is all ones."""


class Content(msgspec.Struct, frozen=True):
    """The pieces of a payload, its bytes where they are known beforehand, and its media type."""

    pieces: Iterable[bytes] | AsyncIterable[bytes]
    size: int | None
    media_type: str


def content_of(given: Any, media_type: str | None = None) -> Content:
    """The content of what was given to be saved.

    Args:
        given: bytes, a path, a binary file, or an iterator of bytes (also an asynchronous one): saved as they are. Anything
            else: saved as JSON.
        media_type: of bytes; JSON is application/json in any case.

    Raises:
        BadInput: JSON cannot hold it, as NaN and infinity, or the file cannot be read.
    """
    octets = media_type or OCTETS
    if isinstance(given, (bytes, bytearray, memoryview)):
        view = memoryview(cast("bytes", given)).cast("B")
        return Content(_cut(view), len(view), octets)
    if isinstance(given, Path):
        try:
            return Content(_read_path(given), given.stat().st_size, octets)
        except OSError as error:
            raise BadInput(f"{given} cannot be saved as a payload: {error}") from error
    if callable(getattr(given, "read", None)):
        return Content(_read(given), None, octets)
    if isinstance(given, AsyncIterable):
        return Content(cast("AsyncIterable[bytes]", given), None, octets)
    if isinstance(given, Iterator):
        return Content(cast("Iterator[bytes]", given), None, octets)
    return _json(given)


def _json(value: object) -> Content:
    try:
        encoded = msgspec.json.encode(value)
        if b"null" in encoded and _may_have_odd_numbers(value):
            _refuse_odd_numbers(msgspec.to_builtins(value, str_keys=True), "$")
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise BadInput(f"the payload is neither bytes nor JSON: {error}") from error
    return Content(_cut(memoryview(encoded)), len(encoded), JSON)


def _may_have_odd_numbers(value: object) -> bool:
    """Whether NaN or infinity may be in it, which msgspec writes as null. MessagePack keeps them, at the speed of JSON; some bytes
    look like one."""
    try:
        return ODD_NUMBER.search(msgspec.msgpack.encode(value)) is not None
    except (TypeError, ValueError, OverflowError):
        return True


def _refuse_odd_numbers(value: object, place: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise BadInput(f"the payload has {value} at {place}, which is no JSON number; give None or text in its place")
    if isinstance(value, dict):
        for name, each in cast("dict[str, object]", value).items():
            _refuse_odd_numbers(each, f"{place}.{name}")
    elif isinstance(value, (list, tuple)):
        for index, each in enumerate(cast("list[object]", value)):
            _refuse_odd_numbers(each, f"{place}[{index}]")


def _cut(view: memoryview) -> Iterator[bytes]:
    return (bytes(view[at : at + CHUNK]) for at in range(0, len(view), CHUNK))


def _read(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(CHUNK):
        yield piece


def _read_path(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from _read(file)
    except OSError as error:
        raise BadInput(f"{path} cannot be saved as a payload: {error}") from error
