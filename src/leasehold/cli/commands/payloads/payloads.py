"""`leasehold payloads list`, `payloads show`, `payloads get` and `payloads diff`."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import IO, Annotated, TextIO

from cyclopts import Parameter
from cyclopts.validators import Number

from leasehold.cli.commands.payloads.view import view_diff, view_payload, view_payloads
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.client import Client
from leasehold.errors import BadInput
from leasehold.payloads.comparing import MOST_LISTED
from leasehold.records.payloads import PayloadDiff, PayloadRecord

KIND = Parameter(help="Only payloads of this kind.")
FIELD = Parameter(help="The fields that are compared, comma separated.", negative=())


@shown_as(view_payloads)
async def payloads_list(
    *,
    key: Annotated[str | None, Parameter(help="Only payloads about this key.")] = None,
    kind: Annotated[str | None, KIND] = None,
    job: Annotated[int | None, AN_ID, Parameter(help="Only payloads that this job saved.")] = None,
    before: Annotated[int | None, AN_ID, Parameter(help="Only payloads with a smaller id.")] = None,
    limit: Annotated[int, Parameter(help="The most to list, 1 to 1000.")] = 50,
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
        int, Parameter(help="How many of each to list; all are counted.", validator=Number(gte=0, lte=MOST_LISTED))
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
