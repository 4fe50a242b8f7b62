"""`/api/payloads/{id}/data`: the content of a payload, whole or in ranges."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

import msgspec
from aiohttp import web

from leasehold.concurrency.flavours import each_in_thread, in_thread
from leasehold.errors import PayloadDamaged, PayloadError, PayloadMissing
from leasehold.gateway.access.guard import lacks_scope
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import ById
from leasehold.gateway.http.problems import PAYLOAD_DAMAGED, RANGE_NOT_SATISFIABLE, UNKNOWN_PAYLOAD, Refusal
from leasehold.gateway.http.replies import PLAIN, hang_up, is_known
from leasehold.gateway.nouns.payloads import CONTENT
from leasehold.gateway.routing.routes import Call, Routes, Success
from leasehold.payloads.content import read_content, read_stored
from leasehold.payloads.stores import BlobStore
from leasehold.records.payloads import PayloadRecord

RANGE = re.compile(r"bytes=(\d{1,18})?-(\d{1,18})?", re.ASCII)


def range_of(header: str | None, size: int) -> tuple[int, int] | None:
    """The first byte and the one behind the last; None: the whole is asked for, or something that may be ignored.

    Raises:
        Refusal: no byte lies in the range.
    """
    found = RANGE.fullmatch(header.replace(" ", "")) if header else None
    if found is None or found.groups() == (None, None):
        return None
    first, last = found.groups()
    if first is None:
        start, stop = max(0, size - int(last)), size
    else:
        start, stop = int(first), size if last is None else min(int(last) + 1, size)
        if last is not None and int(last) < start:
            return None
    if start >= stop:
        headers = {"Content-Range": f"bytes */{size}"}
        raise Refusal(RANGE_NOT_SATISFIABLE, f"The payload has {size} bytes.", headers=headers)
    return start, stop


log = logging.getLogger(__name__)

WRITE_SECONDS = 30.0


class _Sending(msgspec.Struct, frozen=True):
    """What is sent: the bytes as they are stored, or as they were saved; all of them, or those of `part`."""

    payload: PayloadRecord
    is_stored: bool
    part: tuple[int, int] | None

    @property
    def tag(self) -> str:
        return f'"{self.payload.sha256}{"-gzip" if self.is_stored else ""}"'

    @property
    def length(self) -> int:
        if self.part is not None:
            return self.part[1] - self.part[0]
        return self.payload.compressed_size if self.is_stored else self.payload.size


routes = Routes("payloads")


@routes(
    "GET",
    "/api/payloads/{id}/data",
    "Get the content of a payload",
    response=bytes,
    media_type="*/*",
    is_raw=True,
    successes=(Success(206, "A part, as `Range` asked.", bytes), Success(304, "The caller has it already.")),
    errors=(UNKNOWN_PAYLOAD, RANGE_NOT_SATISFIABLE, PAYLOAD_DAMAGED, *CONTENT),
    scope=Scope.READ,
)
async def show_payload_data(call: Call[ById, None], request: web.Request) -> web.StreamResponse:
    """The content as it was saved, with its own media type. A client that accepts gzip gets the bytes as they are stored.

    `Range` asks for a part of the content, one range at a time. Length and checksum are checked: the answer is 502 where the
    first MiB shows that they are wrong, and else the connection ends before the answer does. Where values are hidden from tokens
    without the scope operate, it needs that: nobody looks through content before it is sent.
    """
    if call.services.hiding.concerns(call.identity):
        raise lacks_scope(call.identity, Scope.OPERATE)
    archive = call.services.client.payloads.archive()
    payload = await call.services.client.payloads.get(call.parameters.id)
    answer = _answer_to(request, payload)
    store = archive.store
    if is_known(answer.tag, request.headers.get("If-None-Match")):
        return web.Response(status=304, headers={"ETag": answer.tag})
    await in_thread(_refuse_other_size, store, payload)
    async with aclosing(each_in_thread(iter(()) if request.method == "HEAD" else _pieces(store, answer))) as pieces:
        first = await anext(pieces, b"")  # what is wrong with it can still be said
        response = web.StreamResponse(status=200 if answer.part is None else 206, headers=_headers(answer))
        response.content_length = answer.length
        await response.prepare(request)
        if request.method != "HEAD":
            await _send(request, response, first, pieces)
    return response


def _refuse_other_size(store: BlobStore, payload: PayloadRecord) -> None:
    found = store.size(payload.location)
    if found is None:
        raise PayloadMissing(f"{payload.location} is not in the payload store", location=payload.location)
    if found != payload.compressed_size:
        raise PayloadDamaged(f"payload {payload.id} has {found:,} bytes, and {payload.compressed_size:,} were stored")


def _answer_to(request: web.Request, payload: PayloadRecord) -> _Sending:
    whole = _Sending(payload, payload.codec == "gzip" and _accepts_gzip(request), None)
    plain = _Sending(payload, False, None)
    condition = request.headers.get("If-Range")
    if "Range" not in request.headers or (condition is not None and condition != plain.tag):
        return whole
    part = range_of(request.headers["Range"], payload.size)
    return whole if part is None else _Sending(payload, False, part)


def _accepts_gzip(request: web.Request) -> bool:
    offers = [each.strip().lower() for each in request.headers.get("Accept-Encoding", "").split(",")]
    return "gzip" in {each.partition(";")[0].strip() for each in offers if not each.replace(" ", "").endswith(";q=0")}


def _headers(answer: _Sending) -> dict[str, str]:
    payload = answer.payload
    name = payload.location.rpartition("/")[2].removesuffix(".gz")
    headers = {
        **PLAIN,
        "Content-Type": payload.media_type,
        "Content-Disposition": f'attachment; filename="{name}"',
        "Accept-Ranges": "bytes",
        "ETag": answer.tag,
        "Vary": "Accept-Encoding",
        "Cache-Control": "private, no-cache",
    }
    if answer.is_stored:
        headers["Content-Encoding"] = "gzip"
    if answer.part is not None:
        headers["Content-Range"] = f"bytes {answer.part[0]}-{answer.part[1] - 1}/{payload.size}"
    return headers


def _pieces(store: BlobStore, answer: _Sending) -> Iterator[bytes]:
    if answer.is_stored:
        yield from read_stored(store, answer.payload)
    elif answer.part is None:
        yield from read_content(store, answer.payload)
    else:
        yield from _cut(store, answer.payload, *answer.part)


def _cut(store: BlobStore, payload: PayloadRecord, start: int, stop: int) -> Iterator[bytes]:
    """The bytes from `start` up to `stop`. Of what is compressed, all before has to be unpacked."""
    at = start if payload.codec == "none" else 0
    for piece in store.read(payload.location, at) if payload.codec == "none" else read_content(store, payload):
        if at + len(piece) > start:
            yield piece[max(0, start - at) : stop - at]
        at += len(piece)
        if at >= stop:
            return


async def _send(
    request: web.Request, response: web.StreamResponse, piece: bytes, pieces: AsyncGenerator[bytes]
) -> None:
    """Write the pieces. What fails now has begun to be answered: the connection ends without the end of the answer."""
    try:
        while piece:
            async with asyncio.timeout(WRITE_SECONDS):
                await response.write(piece)
            piece = await anext(pieces, b"")
        await response.write_eof()
    except (ConnectionError, TimeoutError):
        hang_up(request)
    except PayloadError as error:
        log.warning("%s; the answer was cut short", error)
        hang_up(request)
