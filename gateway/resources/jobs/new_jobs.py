"""From the body of a request to the job that it asks for."""

from __future__ import annotations

from typing import Any

import msgspec

from leasehold.gateway.http.json_scan import exceeds_depth, find_offence
from leasehold.gateway.http.problems import ARGS_TOO_LARGE, Offence, Refusal, refuse_field
from leasehold.gateway.http.reading import RequestLimits, offence_of
from leasehold.gateway.resources.jobs.enqueue_bodies import BlockerBody, JobBody
from leasehold.gateway.routing.services import GatewayServices
from leasehold.jobs.handling.job import Blocker, NewJob
from leasehold.jobs.producing.new_job import ended

ARGS_DECODER = msgspec.json.Decoder(dict[str, Any])


def new_job(body: JobBody, services: GatewayServices, path: str = "$") -> NewJob:
    """The job that the body asks for. `path` is where the body stands in the request.

    The args are read here, and sent on as the very bytes that came unless the client has an app to check them.
    """
    args = read_args(bytes(body.args), services.limits, f"{path}.args")
    if body.delay is not None and body.run_at is not None:
        raise refuse_field(f"{path}.delay", "Give delay or run_at, not both")
    fields = msgspec.structs.asdict(body)  # which are named as those of NewJob
    fields["check_args"] = body.check_args is not False
    if services.has_app:
        fields["args"] = args
    if body.blockers is not None:
        fields["blockers"] = [read_blocker(each) for each in body.blockers]
    return NewJob(**fields)


def read_blocker(blocker: int | BlockerBody) -> Blocker:
    """A blocker as the client takes it."""
    if isinstance(blocker, int):
        return blocker
    return ended(blocker.chain) if blocker.until == "ended" else blocker.chain


def read_args(args: bytes, limits: RequestLimits, path: str) -> dict[str, Any]:
    """Refuses args that are no JSON object, too large, or beyond what a worker can read."""
    if len(args) > limits.args_bytes:
        raise Refusal(ARGS_TOO_LARGE, f"{path} takes {len(args)} bytes, at most {limits.args_bytes} fit.")
    try:
        return ARGS_DECODER.decode(args)
    except msgspec.ValidationError as error:
        offence = find_offence(args, path) or offence_of(error, path)
        raise refuse_field(offence.path, offence.message) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        offence = find_offence(args, path) or Offence(path, "It cannot be read")
        raise refuse_field(offence.path, offence.message) from None


def read_part(text: str, limits: RequestLimits, path: str) -> dict[str, Any]:
    """A JSON object that args are to contain. Refuses what no args can contain."""
    document = text.encode("utf-8", "surrogatepass")
    if exceeds_depth(document, limits.json_depth):
        raise refuse_field(path, f"It is nested more than {limits.json_depth} levels deep")
    part = read_args(document, limits, path)
    if offence := find_offence(document, path):
        raise refuse_field(offence.path, offence.message)
    return part
