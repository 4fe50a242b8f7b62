"""The handlers of `/api/jobs…`."""

from __future__ import annotations

from typing import Any

import msgspec

from leasehold.gateway.bodies import CountsBody, EnqueuedBody, JobBody, JobParameters, LogParameters
from leasehold.gateway.json_scan import find_offence
from leasehold.gateway.problems import ARGS_TOO_LARGE, INVALID_INPUT, Offence, Refusal
from leasehold.gateway.reading import Limits, offence_of
from leasehold.gateway.routes import Call, NoParameters
from leasehold.gateway.services import Services
from leasehold.job import NewJob
from leasehold.records import Explanation, JobProgress, JobRecord, LogLine

IDEMPOTENCY_KEY = "Idempotency-Key"
LONGEST_KEY = 500
ARGS_DECODER = msgspec.json.Decoder(dict[str, Any])


async def enqueue_job(call: Call[NoParameters, JobBody]) -> EnqueuedBody:
    """Writes one job; answers after the commit."""
    body = with_header_key(call.body, call.headers.get(IDEMPOTENCY_KEY))
    written = await call.services.coalescer.enqueue(new_job(body, call.services), len(bytes(body.args)))
    return EnqueuedBody(*msgspec.structs.astuple(written))


async def enqueue_batch(call: Call[NoParameters, list[JobBody]]) -> list[EnqueuedBody]:
    """Writes all jobs or none, in one transaction; answers in their order after the commit."""
    jobs = [new_job(body, call.services, f"$[{index}]") for index, body in enumerate(call.body)]
    written = await call.services.client.enqueue_many(jobs)
    return [EnqueuedBody(*msgspec.structs.astuple(each)) for each in written]


async def show_job(call: Call[JobParameters, None]) -> JobRecord:
    """One job, whatever its state."""
    return await call.services.client.get(call.parameters.id)


async def explain_job(call: Call[JobParameters, None]) -> list[Explanation]:
    """Why a job is not running: all reasons, the weightiest first."""
    return await call.services.client.explain(call.parameters.id)


async def show_progress(call: Call[JobParameters, None]) -> JobProgress | None:
    """How far a job has come, null where its handler said nothing."""
    return await call.services.client.progress(call.parameters.id)


async def show_logs(call: Call[LogParameters, None]) -> list[LogLine]:
    """The log of a job, oldest line first."""
    return await call.services.client.logs(call.parameters.id, attempt=call.parameters.attempt)


async def count_jobs(call: Call[NoParameters, None]) -> CountsBody:
    """How many jobs each queue has in each state."""
    return CountsBody(await call.services.client.counts())


def with_header_key(body: JobBody, key: str | None) -> JobBody:
    """The body with the idempotency key of the header. Refuses two that differ."""
    if key is None or key == body.idempotency_key:
        return body
    if body.idempotency_key is not None:
        raise _refused("$.idempotency_key", f"The {IDEMPOTENCY_KEY} header says otherwise")
    if not (1 <= len(key) <= LONGEST_KEY and key.isprintable()):
        raise _refused(f"header.{IDEMPOTENCY_KEY}", f"It must be 1 to {LONGEST_KEY} printable characters")
    return msgspec.structs.replace(body, idempotency_key=key)


def new_job(body: JobBody, services: Services, path: str = "$") -> NewJob:
    """The job that the body asks for. `path` is where the body stands in the request.

    The args are read here, and sent on as the very bytes that came unless the client has an app to check them.
    """
    args = read_args(bytes(body.args), services.limits, f"{path}.args")
    if body.delay is not None and body.run_at is not None:
        raise _refused(f"{path}.delay", "Give delay or run_at, not both")
    return NewJob(
        kind=body.kind,
        args=args if services.has_app else body.args,
        queue=body.queue,
        priority=body.priority,
        run_at=body.run_at,
        delay=body.delay,
        key=body.key,
        key_group=body.key_group,
        max_attempts=body.max_attempts,
        timeout=body.timeout,
        deadline=body.deadline,
        blockers=body.blockers,
        unique=body.unique,
        traceparent=body.traceparent,
        idempotency_key=body.idempotency_key,
        metadata=body.metadata,
    )


def read_args(args: bytes, limits: Limits, path: str) -> dict[str, Any]:
    """Refuses args that are no JSON object, too large, or beyond what a worker can read."""
    if len(args) > limits.args_bytes:
        raise Refusal(ARGS_TOO_LARGE, f"{path} takes {len(args)} bytes, at most {limits.args_bytes} fit.")
    try:
        return ARGS_DECODER.decode(args)
    except msgspec.ValidationError as error:
        offence = find_offence(args, path) or offence_of(error, path)
        raise _refused(offence.path, offence.message) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        offence = find_offence(args, path) or Offence(path, "It cannot be read")
        raise _refused(offence.path, offence.message) from None


def _refused(path: str, message: str) -> Refusal:
    return Refusal(INVALID_INPUT, f"{message} (at {path})", offences=[Offence(path, message)])
