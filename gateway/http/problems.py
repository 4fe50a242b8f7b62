"""Every refusal that the gateway can answer, as RFC 9457 problem details with a stable code.

An error becomes a problem through one table by its type, never by its text. What went wrong inside is logged under the
request id and never shown: an answer carries no traceback, no SQL and no address of a database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

import msgspec
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from leasehold import errors
from leasehold.egress import AddressInside, EgressMissing


class ProblemType(msgspec.Struct, frozen=True):
    """One kind of problem: callers rely on `code`, so it never changes."""

    code: str
    status: int
    title: str


class Offence(msgspec.Struct, frozen=True):
    """One offending field: its path from the root of the body (`$.args.url`), and what is wrong with it."""

    path: str
    message: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The body of every answer that is not a success (application/problem+json)."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str
    errors: Sequence[Offence] = ()


MALFORMED_REQUEST = ProblemType("malformed_request", 400, "The request is not valid HTTP")
MALFORMED_JSON = ProblemType("malformed_json", 400, "The body is not JSON")
UNAUTHORIZED = ProblemType("unauthorized", 401, "A valid access token is needed")
INSUFFICIENT_SCOPE = ProblemType("insufficient_scope", 403, "The token does not allow this")
FOREIGN_ORIGIN = ProblemType("foreign_origin", 403, "Pages of other origins may change nothing here")
ADDRESS_INSIDE = ProblemType("address_inside", 403, "The gateway asks public addresses alone")
NOT_FOUND = ProblemType("not_found", 404, "There is nothing at this address")
UNKNOWN_JOB = ProblemType("unknown_job", 404, "No job has this id")
UNKNOWN_SCHEDULE = ProblemType("unknown_schedule", 404, "No schedule has this name or id")
UNKNOWN_TOKEN = ProblemType("unknown_token", 404, "No token has this id")
UNKNOWN_IDENTITY = ProblemType("unknown_identity", 404, "No egress identity has this name")
UNKNOWN_WORKER = ProblemType("unknown_worker", 404, "No worker has this id or name")
UNKNOWN_STATEFULSET = ProblemType("unknown_statefulset", 404, "Kubernetes has no such StatefulSet")
UNKNOWN_COMMAND = ProblemType("unknown_command", 404, "This worker has no command with this id")
UNKNOWN_PAYLOAD = ProblemType("unknown_payload", 404, "No payload has this id, or it was deleted")
UNKNOWN_SOURCE = ProblemType("unknown_source", 404, "No source has this name")
UNKNOWN_KIND_HERE = ProblemType("undeclared_kind", 404, "No app has declared this kind")
UNKNOWN_QUEUE = ProblemType("unknown_queue", 404, "Nothing is known of this queue")
METRICS_MISSING = ProblemType("metrics_missing", 404, "Metrics are not installed here")
METHOD_NOT_ALLOWED = ProblemType("method_not_allowed", 405, "This address does not take this method")
NOT_ACCEPTABLE = ProblemType("not_acceptable", 406, "The answer has another media type than the request accepts")
SLOW_BODY = ProblemType("slow_body", 408, "The body did not arrive in time")
CONFLICT = ProblemType("conflict", 409, "The present state forbids it")
UNIQUE_CONFLICT = ProblemType("unique_conflict", 409, "A job with this unique key is there already")
WRONG_STATE = ProblemType("wrong_state", 409, "The present state does not allow this")
ROW_LOCKED = ProblemType("row_locked", 409, "A session of Postgres holds the job; try again")
LEASE_LOST = ProblemType("lease_lost", 409, "This attempt does not hold the job any more")
PAYLOAD_MISSING = ProblemType("payload_missing", 410, "The store does not have the content of the payload any more")
BODY_TOO_LARGE = ProblemType("body_too_large", 413, "The body is too large")
ARGS_TOO_LARGE = ProblemType("args_too_large", 413, "The args are too large")
ADDRESS_TOO_LONG = ProblemType("address_too_long", 414, "The address is too long")
UNSUPPORTED_MEDIA_TYPE = ProblemType("unsupported_media_type", 415, "The body must be plain application/json")
RANGE_NOT_SATISFIABLE = ProblemType("range_not_satisfiable", 416, "The payload has no such bytes")
UNKNOWN_HOST = ProblemType("unknown_host", 421, "Without a token only loopback names are served")
INVALID_INPUT = ProblemType("invalid_input", 422, "The input does not have the right shape")
UNEXPECTED_BODY = ProblemType("unexpected_body", 422, "This address takes no body")
INVALID_ARGS = ProblemType("invalid_args", 422, "The args do not fit the kind")
UNKNOWN_KIND = ProblemType("unknown_kind", 422, "No handler is registered for this kind")
IDEMPOTENCY_MISMATCH = ProblemType("idempotency_mismatch", 422, "Another request had this idempotency key")
TOO_DEEP = ProblemType("too_deep", 422, "The JSON is nested too deeply")
TOO_MANY_FAILURES = ProblemType("too_many_failures", 429, "Too many wrong tokens came from this address")
HEADER_TOO_LONG = ProblemType("header_too_long", 431, "A header is too long")
INTERNAL = ProblemType("internal", 500, "Something went wrong here")
NO_PAYLOAD_STORE = ProblemType("no_payload_store", 501, "This gateway has no payload store")
EGRESS_MISSING = ProblemType("egress_missing", 501, "This gateway is installed without the extra egress")
NOT_IN_KUBERNETES = ProblemType("not_in_kubernetes", 501, "This gateway cannot scale workers")
PAYLOAD_DAMAGED = ProblemType("payload_damaged", 502, "The content of the payload is not what was saved")
KUBERNETES_REFUSED = ProblemType("kubernetes_refused", 502, "Kubernetes refuses this")
KUBERNETES_UNTRUSTED = ProblemType("kubernetes_untrusted", 502, "The API server of Kubernetes cannot be trusted")
KUBERNETES_UNREADABLE = ProblemType("kubernetes_unreadable", 502, "The answer of Kubernetes makes no sense")
KUBERNETES_UNAVAILABLE = ProblemType("kubernetes_unavailable", 503, "Kubernetes cannot be asked right now")
STORE_UNAVAILABLE = ProblemType("store_unavailable", 503, "The payload store cannot be used right now")
DATABASE_UNAVAILABLE = ProblemType("database_unavailable", 503, "The database cannot be used right now")
SCHEMA_MISMATCH = ProblemType("schema_mismatch", 503, "The database's schema does not fit this version")
OVERLOADED = ProblemType("overloaded", 503, "Too many jobs are waiting to be written")
TOO_MANY_DIFFS = ProblemType("too_many_diffs", 503, "Too many payloads are being compared")
TOO_MANY_STREAMS = ProblemType("too_many_streams", 503, "Too many streams are open")
NOT_READY = ProblemType("not_ready", 503, "Not ready to serve")
KUBERNETES_TIMEOUT = ProblemType("kubernetes_timeout", 504, "Kubernetes did not answer in time")

DATABASE_ERRORS = (DATABASE_UNAVAILABLE, SCHEMA_MISMATCH)
"""What any call to the database may end with."""
ALWAYS_POSSIBLE = (MALFORMED_REQUEST, ADDRESS_TOO_LONG, HEADER_TOO_LONG, NOT_ACCEPTABLE, INVALID_INPUT, INTERNAL)
"""Any request may be no HTTP, be too long, ask for another media type or have a query parameter that the route does not know."""
ACCESS_ERRORS = (UNAUTHORIZED, INSUFFICIENT_SCOPE, FOREIGN_ORIGIN, UNKNOWN_HOST, TOO_MANY_FAILURES, *DATABASE_ERRORS)
BODY_ERRORS = (MALFORMED_JSON, SLOW_BODY, BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_INPUT, TOO_DEEP)
BODILESS_ERRORS = (UNEXPECTED_BODY, SLOW_BODY)
KUBERNETES_ERRORS = (
    UNKNOWN_STATEFULSET,
    NOT_IN_KUBERNETES,
    KUBERNETES_REFUSED,
    KUBERNETES_UNTRUSTED,
    KUBERNETES_UNREADABLE,
    KUBERNETES_UNAVAILABLE,
    KUBERNETES_TIMEOUT,
)
"""What any request to Kubernetes may end with."""
ENQUEUE_ERRORS = (INVALID_ARGS, UNKNOWN_KIND, UNIQUE_CONFLICT, *DATABASE_ERRORS)

ERROR_TYPES: Mapping[type[BaseException], ProblemType] = {
    errors.BadInput: INVALID_INPUT,
    errors.InvalidArgs: INVALID_ARGS,
    errors.UnknownKind: UNKNOWN_KIND,
    errors.NotFound: NOT_FOUND,
    errors.UnknownJob: UNKNOWN_JOB,
    errors.UnknownSchedule: UNKNOWN_SCHEDULE,
    errors.UnknownToken: UNKNOWN_TOKEN,
    errors.UnknownIdentity: UNKNOWN_IDENTITY,
    AddressInside: ADDRESS_INSIDE,
    EgressMissing: EGRESS_MISSING,
    errors.UnknownWorker: UNKNOWN_WORKER,
    errors.UnknownCommand: UNKNOWN_COMMAND,
    errors.UnknownPayload: UNKNOWN_PAYLOAD,
    errors.NoPayloadStore: NO_PAYLOAD_STORE,
    errors.PayloadMissing: PAYLOAD_MISSING,
    errors.PayloadDamaged: PAYLOAD_DAMAGED,
    errors.StoreUnavailable: STORE_UNAVAILABLE,
    errors.UnknownSource: UNKNOWN_SOURCE,
    errors.Conflict: CONFLICT,
    errors.UniqueConflict: UNIQUE_CONFLICT,
    errors.IdempotencyMismatch: IDEMPOTENCY_MISMATCH,
    errors.WrongState: WRONG_STATE,
    errors.RowLocked: ROW_LOCKED,
    errors.LeaseLost: LEASE_LOST,
    errors.DatabaseUnavailable: DATABASE_UNAVAILABLE,
    errors.SchemaMismatch: SCHEMA_MISMATCH,
    web.HTTPNotFound: NOT_FOUND,
    web.HTTPMethodNotAllowed: METHOD_NOT_ALLOWED,
    web.HTTPRequestEntityTooLarge: BODY_TOO_LARGE,
    web.RequestPayloadError: MALFORMED_REQUEST,
    HttpProcessingError: MALFORMED_REQUEST,
}

# Data exceptions (class 22) and integrity violations (class 23) are the caller's doing, whatever let them through.
CALLERS_SQLSTATES = ("22", "23")
HEADERS_KEPT = ("Allow",)


class Refusal(errors.LeaseholdError):
    """The gateway refused the request."""

    def __init__(
        self,
        problem: ProblemType,
        detail: str | None = None,
        *,
        offences: Sequence[Offence] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail or problem.title)
        self.problem = problem
        self.offences = offences
        self.headers = headers or {}


def refuse_field(path: str, message: str) -> Refusal:
    """The refusal of one field of the input, by its path: `$.args.url`, `query.limit`, `header.Prefer`."""
    return Refusal(INVALID_INPUT, f"{message} (at {path})", offences=[Offence(path, message)])


def classify(error: BaseException) -> ProblemType:
    """The problem type of an error; INTERNAL if it has none."""
    if isinstance(error, Refusal):
        return error.problem
    if isinstance(error, errors.QueryRefused) and not isinstance(error, errors.BadInput):
        return INVALID_INPUT if (error.sqlstate or "").startswith(CALLERS_SQLSTATES) else INTERNAL
    for ancestor in type(error).__mro__:
        if ancestor in ERROR_TYPES:
            return ERROR_TYPES[ancestor]
    if isinstance(error, web.HTTPException) and error.status < 500:
        phrase = HTTPStatus(error.status).phrase
        return ProblemType(phrase.lower().replace(" ", "_").replace("-", "_"), error.status, phrase)
    return INTERNAL


def problem_of(error: BaseException, request_id: str) -> Problem:
    """What the caller is told about `error`."""
    problem = classify(error)
    return Problem(
        type=f"urn:leasehold:problem:{problem.code}",
        title=problem.title,
        status=problem.status,
        code=problem.code,
        detail=_detail(error, problem),
        request_id=request_id,
        errors=error.offences if isinstance(error, Refusal) else (),
    )


def problem_headers(error: BaseException) -> dict[str, str]:
    """The headers that belong to the problem: Allow, WWW-Authenticate, Retry-After."""
    if isinstance(error, web.HTTPException):
        return {name: error.headers[name] for name in HEADERS_KEPT if name in error.headers}
    headers = dict(error.headers) if isinstance(error, Refusal) else {}
    if classify(error).status == 503:
        headers.setdefault("Retry-After", "1")
    return headers


def _detail(error: BaseException, problem: ProblemType) -> str:
    if isinstance(error, errors.QueryRefused) and not isinstance(error, errors.BadInput) and problem is INVALID_INPUT:
        return f"Postgres cannot keep this value (SQLSTATE {error.sqlstate})."
    if isinstance(error, errors.PayloadMissing):
        # Where the store is, readers need not know.
        return f"{error.location} is not in the payload store." if error.location else f"{problem.title}."
    if isinstance(error, Refusal) or (isinstance(error, errors.LeaseholdError) and problem.status < 500):
        return str(error)
    if problem is INTERNAL:
        return "The error is in the gateway's log under this request id."
    return f"{problem.title}."
