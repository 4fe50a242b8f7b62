"""`leasehold payloads …`, and how payloads look."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import aclosing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Annotated, Any, TextIO

import msgspec
from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, AN_INTEGER, INJECTED, WHOLE
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import ago, fields_table, plain, table
from leasehold.client import Client
from leasehold.errors import BadInput
from leasehold.observability.wording import show_instant
from leasehold.payloads.diff import MOST_LISTED, FieldChange
from leasehold.records.payloads import PayloadDiff, PayloadRecord

STYLES = {"added": "green", "removed": "red"}


def view_payloads(payloads: list[PayloadRecord], now: datetime) -> Sequence[RenderableType]:
    """One line each."""
    heads = ["id", "saved", "kind", "key", "job", "size", "stored", "noted"]
    rows = [
        [
            str(each.id),
            ago(each.created_at, now),
            plain(each.kind),
            plain(each.key or "-"),
            "-" if each.job_id is None else str(each.job_id),
            show_bytes(each.size),
            show_bytes(each.compressed_size),
            _json(each.metadata),
        ]
        for each in payloads
    ]
    return [table(heads, rows, right=["id", "job", "size", "stored"], cut="noted")]


def view_payload(payload: PayloadRecord, _now: datetime) -> Sequence[RenderableType]:
    """Its fields, one below the other."""
    facts = {
        "id": payload.id,
        "saved": show_instant(payload.created_at),
        "kind": plain(payload.kind),
        "key": None if payload.key is None else plain(payload.key),
        "job": payload.job_id,
        "media type": plain(payload.media_type),
        "size": f"{payload.size:,} bytes, {payload.compressed_size:,} stored ({payload.codec})",
        "sha256": payload.sha256,
        "location": plain(payload.location),
        "noted": None if payload.metadata is None else _json(payload.metadata),
    }
    return [fields_table(facts)]


def view_diff(diff: PayloadDiff, _now: datetime) -> Sequence[RenderableType]:
    """A sentence with the counts, then a line for each record."""
    counts = ", ".join(f"{count:,} {_spaced(name)}" for name, count in diff.diff.items())
    sides = f"payload {diff.before.id} ({diff.before.product_count:,} records) → {diff.after.id} ({diff.after.product_count:,})"
    rows = [_row(name, each) for name, found in diff.details.items() for each in found]
    parts: list[RenderableType] = [plain(sides), plain(counts)]
    if rows:
        parts += [Text(""), table(["what", "record", "name", "from", "to"], rows, cut="name")]
    if more := sum(diff.diff.values()) - len(rows):
        parts.append(plain(f"{more:,} more; --limit lists them"))
    return parts


def show_bytes(number: int) -> str:
    """`1.5 MB`, as people say it."""
    size = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{number} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError(number)


def _row(name: str, found: Any) -> list[RenderableType]:
    if isinstance(found, FieldChange):
        return [plain(_spaced(name)), _value(found.key), _value(found.name), _value(found.old), _value(found.new)]
    key, *others = found.items()
    fields = {field: value for field, value in others if field != "name"}
    shown, blank = _json(fields), Text("-")
    sides = [shown, blank] if name == "removed" else [blank, shown]
    return [plain(name, STYLES[name]), _value(key[1]), _value(found.get("name")), *sides]


def _spaced(name: str) -> str:
    return f"{name.removesuffix('Changes')} changed" if name.endswith("Changes") else name


def _value(value: object) -> Text:
    return plain("-" if value is None else value if isinstance(value, str) else _encoded(value))


def _json(value: object) -> Text:
    return plain("" if value is None else _encoded(value))


def _encoded(value: object) -> str:
    return msgspec.json.encode(value).decode()


KIND = Parameter(help="Only payloads of this kind.")
FIELD = Parameter(help="The fields that are compared, comma separated.", negative=())


@shown_as(view_payloads)
async def payloads_list(
    *,
    key: Annotated[str | None, Parameter(help="Only payloads about this key.")] = None,
    kind: Annotated[str | None, KIND] = None,
    job: Annotated[int | None, AN_ID, Parameter(help="Only payloads that this job saved.")] = None,
    before: Annotated[int | None, AN_ID, Parameter(help="Only payloads with a smaller id.")] = None,
    limit: Annotated[int, Parameter(help="The most to list, 1 to 1000."), AN_INTEGER] = 50,
    context: Annotated[CommandContext, INJECTED],
) -> list[PayloadRecord]:
    """List payloads, newest first.

    Example:
      leasehold payloads list --key 101
    """
    async with context.client() as client:
        return await client.payloads.list(key=key, kind=kind, job_id=job, before_id=before, page_size=limit)


@shown_as(view_payload)
async def payloads_show(
    payload_id: Annotated[int, AN_ID], /, *, context: Annotated[CommandContext, INJECTED]
) -> PayloadRecord:
    """Show what is known of a payload: where it lies, its size, its checksum.

    Example:
      leasehold payloads show 57
    """
    async with context.client() as client:
        return await client.payloads.get(payload_id)


async def payloads_get(
    payload_id: Annotated[int, AN_ID],
    /,
    *,
    to: Annotated[Path | None, Parameter(help="Write it to this file, which must not exist.")] = None,
    context: Annotated[CommandContext, INJECTED],
) -> None:
    """Print the content of a payload as it was saved, unpacked and checked.

    What is printed before an error is not the whole payload. A file is complete or is not there.

    Example:
      leasehold payloads get 57 | jq .products[0]
      leasehold payloads get 57 --to products.json
    """
    async with context.client() as client:
        if to is None:
            await _print(client, payload_id, context.terminal.stdout)
        else:
            await _write(client, payload_id, to)


async def _print(client: Client, payload_id: int, out: TextIO) -> None:
    stream = getattr(out, "buffer", None)
    async with aclosing(client.payloads.stream(payload_id)) as pieces:
        async for piece in pieces:
            if stream is None:
                out.write(piece.decode("utf-8", "replace"))
            else:
                stream.write(piece)
    out.flush()


async def _write(client: Client, payload_id: int, to: Path) -> None:
    with _new_file(to) as file:
        async with aclosing(client.payloads.stream(payload_id)) as pieces:
            async for piece in pieces:
                file.write(piece)


@contextmanager
def _new_file(path: Path) -> Generator[IO[bytes]]:
    """A new file that is gone again if the block raises."""
    try:
        file = path.open("xb")
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error}") from error
    try:
        with file:
            yield file
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise BadInput(f"{path} cannot be written: {error}") from error
        raise


@shown_as(view_diff)
async def payloads_diff(
    key: str,
    before: Annotated[int | None, AN_ID] = None,
    after: Annotated[int | None, AN_ID] = None,
    /,
    *,
    kind: Annotated[str | None, KIND] = None,
    record_key: Annotated[str, Parameter(help="The field that identifies a record.")] = "id",
    field: Annotated[list[str] | None, FIELD] = None,
    records: Annotated[str | None, Parameter(help="Where the list of records is, as data.products.")] = None,
    limit: Annotated[
        int,
        Parameter(help="How many of each to list; all are counted.", validator=Number(gte=0, lte=MOST_LISTED)),
        WHOLE,
    ] = 50,
    context: Annotated[CommandContext, INJECTED],
) -> PayloadDiff:
    """Compare two payloads about a key: what came, what went, what changed.

    Without ids it compares the newest payload with the one before; with one id, that payload with the newest. Fields are price
    and stock unless given.

    Example:
      leasehold payloads diff 101
      leasehold payloads diff 101 52 57 --field price,stock,brand --records data.products
    """
    fields = [each.strip() for one in field or ["price,stock"] for each in one.split(",") if each.strip()]
    async with context.client() as client:
        return await client.payloads.diff(
            key, before, after, kind=kind, record_key=record_key, fields=fields, records=records, limit=limit
        )
