"""`leasehold enqueue`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, TextIO, cast

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.app.registry import builtin_app
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_INTEGER, INJECTED, setting
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import parse_duration, parse_instant
from leasehold.client import Client
from leasehold.errors import BadInput, LeaseholdError
from leasehold.settings.sources import suggest


class EnqueueReport(msgspec.Struct, frozen=True, kw_only=True):
    """The job's id; `is_new` is false when its idempotency key was known already."""

    job_id: int
    is_new: bool


def view_enqueued(report: EnqueueReport, _now: datetime) -> Sequence[RenderableType]:
    """The bare id, so that a shell can keep it."""
    return [Text(str(report.job_id))]


@shown_as(view_enqueued)
async def enqueue(
    kind: str,
    args: Annotated[
        str, Parameter(help="The job's args, a JSON object; @FILE reads them from a file, @- from stdin.")
    ] = "{}",
    /,
    *,
    queue: Annotated[str | None, Parameter(help="Queue; else the kind's own or `default`.")] = None,
    priority: Annotated[int | None, Parameter(help="Higher runs first."), AN_INTEGER] = None,
    key: Annotated[str | None, Parameter(help="What the job is about: at most one job per key is active.")] = None,
    key_group: Annotated[str | None, Parameter(help="What limits of each group count by: a tenant, a host.")] = None,
    delay: Annotated[str | None, Parameter(help="Not before this much later: 30s, 5m, 1h30m, 2d.")] = None,
    run_at: Annotated[str | None, Parameter(help="Not before this instant: 2030-01-31T09:30:00Z.")] = None,
    idempotency_key: Annotated[str | None, Parameter(help="A second enqueue with it finds the first's job.")] = None,
    max_attempts: Annotated[int | None, Parameter(help="Attempts until the job counts as failed."), AN_INTEGER] = None,
    timeout: Annotated[str | None, Parameter(help="An attempt is cut off after so long: 90s, 10m.")] = None,
    deadline: Annotated[str | None, Parameter(help="The job fails if it has not finished so much later: 2h.")] = None,
    metadata: Annotated[str | None, Parameter(help="Anything else to keep with it, a JSON object.")] = None,
    app: Annotated[str | None, setting("app")] = None,
    context: Annotated[CommandContext, INJECTED],
) -> EnqueueReport:
    """Enqueue a job and tell its id.

    The id stands alone, so that a shell can keep it; --output json has it in an object.

    Where an app is given, its kinds say queue, priority and attempts, args are checked against its
    handlers, and other kinds are refused. Without an app, a kind that no app has declared and no live worker serves is enqueued
    with a warning.

    Example:
      leasehold enqueue echo '{"text": "hello"}'
      leasehold enqueue crawl '{"shop": 7}' --queue crawl --key shop-7 --delay 5m
      id=$(leasehold enqueue send_mail '{"to": "ada"}' --app shop.jobs:app)
    """
    from leasehold.jobs.new_job import NewJob  # noqa: PLC0415

    if delay is not None and run_at is not None:
        raise BadInput("--delay and --run-at exclude each other")
    job = NewJob(
        kind=kind,
        args=parse_object("args", read_text("args", args, context.terminal.stdin)),
        queue=queue,
        priority=priority,
        key=key,
        key_group=key_group,
        delay=_seconds(delay),
        run_at=None if run_at is None else parse_instant(run_at),
        idempotency_key=idempotency_key,
        max_attempts=max_attempts,
        timeout=_seconds(timeout),
        deadline=None if deadline is None else parse_duration(deadline),
        metadata=None if metadata is None else parse_object("metadata", metadata),
    )
    place = context.settings_with({"app": app}).app
    async with context.client(place) as client:
        [enqueued] = await client.enqueue_with_outcomes([job])
        if place is None and enqueued.is_new:
            await warn_of_stranger(kind, client, context)
    if not enqueued.is_new:
        which = "unique" if idempotency_key is None else "idempotency"
        done = "nothing was enqueued" if enqueued.outcome == "existing" else f"it was {enqueued.outcome}"
        context.say(f"job {enqueued.job_id} has this {which} key already; {done}")
    return EnqueueReport(job_id=enqueued.job_id, is_new=enqueued.is_new)


async def warn_of_stranger(kind: str, client: Client, context: CommandContext) -> None:
    """Say it where no app and no live worker knows the kind: a slip of the pen otherwise waits without a word."""
    try:
        known = {*(each.name for each in builtin_app()), *(each.kind for each in await client.kinds.list())}
        live = [each for each in await client.workers.list() if each.state != "stale"]
    except LeaseholdError:  # who may enqueue need not be allowed to look; and it is done
        return
    if kind not in known and all(each.kinds and kind not in each.kinds for each in live):
        who = f"no app has declared a kind {kind!r} and no live worker serves it"
        context.say(f"warning: {who}, so its jobs wait{suggest(kind, known)}")


def parse_object(name: str, text: str) -> dict[str, object]:
    """A JSON object typed by a user. Raises BadInput."""
    try:
        value: object = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise BadInput(f"{name} is no JSON: {_reason(text, error)}") from error
    if not isinstance(value, dict):
        raise BadInput(f"{name} must be a JSON object such as {{}}, not {text[:40]}")
    return cast("dict[str, object]", value)


def _reason(text: str, error: Exception) -> str:
    """Why it is no JSON. Of what Python reads all the same, msgspec says other things."""
    with suppress(ValueError, RecursionError):
        json.loads(text)
        return "NaN, Infinity and a surrogate without its partner have no place there"
    return str(error)


def read_text(what: str, text: str, stdin: TextIO | None = None) -> str:
    """The text itself, or what the file holds that it names as `@FILE`; `@-` is `stdin`, where there is one. Raises BadInput."""
    if not text.startswith("@"):
        return text
    try:
        return stdin.read() if stdin and text == "@-" else Path(text[1:]).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {what} from {text[1:]}: {error}") from error


def _seconds(span: str | None) -> float | None:
    return None if span is None else parse_duration(span) / timedelta(seconds=1)
