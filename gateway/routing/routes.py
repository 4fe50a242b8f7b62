"""What a route is: data. `serving/handling.py` serves it, `document.py` makes its part of the OpenAPI document.

A noun declares its routes above their handlers: `@routes("GET", "/api/jobs/{id}", "Show one job", scope=Scope.READ)`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Generic, Literal, TypedDict, TypeVar, Unpack, get_args, get_type_hints

import msgspec

from leasehold.gateway.access.identities import ANONYMOUS, Identity, Scope
from leasehold.gateway.http.problems import (
    ACCESS_ERRORS,
    ALWAYS_POSSIBLE,
    BODILESS_ERRORS,
    BODY_ERRORS,
    NOT_FOUND,
    ProblemType,
)
from leasehold.gateway.http.replies import JSON, Reply
from leasehold.gateway.http.targets import NoParameters
from leasehold.gateway.routing.services import GatewayServices

Parameters = TypeVar("Parameters")
Body = TypeVar("Body")
Handler = TypeVar("Handler", bound=Callable[..., Awaitable[object]])
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

__all__ = ["Call", "NoParameters", "Reply", "Route", "Routes", "Success"]


async def always() -> bool:
    """For routes without a scope: the caller stays admitted."""
    return True


class Call(msgspec.Struct, Generic[Parameters, Body], frozen=True, eq=False):
    """One request, decoded. `identity` is who sent it; `is_admitted` tells whether it would be admitted again, for answers
    that go on for long; `raw` is the body as it came; `prefix`: the path below which a proxy shows the gateway."""

    services: GatewayServices
    parameters: Parameters
    body: Body
    headers: dict[str, str]
    identity: Identity = ANONYMOUS
    is_admitted: Callable[[], Awaitable[bool]] = always
    raw: bytes = b""
    prefix: str = ""


class Success(msgspec.Struct, frozen=True, eq=False):
    """Another success of a route: its status, when it happens, and the type of its answer (None: no body)."""

    status: int
    when: str
    response: object | None = None


class Route(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One row of the route table.

    Attributes:
        handler: gets the decoded `Call` and returns what `response` says, or a `Reply` with another documented status or
            headers of its own. Its docstring is the description.
        response: the type of the answer; None where there is no body.
        request: the type of the body; None where there is none, and one is refused.
        is_body_optional: without a body the request counts as `{}`.
        parameters: a Struct: fields named in the path come from it, the others from the query.
        headers: the request headers that the handler reads, as in `document.REQUEST_HEADERS`; `refused_headers`: those that would
            promise what it does not keep, and why.
        status: of the ordinary answer; `successes` are the other good ones.
        errors: the problems of this handler's own; those of reading a body and of access follow from the other fields.
        scope: what the token must allow; None: open to everybody. `also`: what it must allow besides.
        media_type: of the answer. Where it is not JSON, the handler returns bytes.
        is_raw: the handler gets `(call, request)` and answers by itself, as streams do.
        alias_of: the path that this one stands for; kept for clients of other systems.
        worded: this address as it answers, where clients of other systems have words of their own at it: it takes theirs and
            ours, and stands in the document of the aliases as this row stands in the main one.
        example: a body, for the document.
        is_listed: it stands in the document.
        outlasts_database: it is also served while the database is away, then to tokens that were good some minutes ago.
        shared_seconds: how old an answer may be that is given to several callers; 0: each gets its own. For routes without
            parameters.
        makes_a_job: the answer has the id of a job, and the document links to what can be done with it.
    """

    method: Method
    path: str
    handler: Callable[..., Awaitable[object]]
    summary: str
    response: object | None
    request: object | None = None
    is_body_optional: bool = False
    parameters: type[msgspec.Struct] = NoParameters
    headers: tuple[str, ...] = ()
    refused_headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    status: int = 200
    successes: tuple[Success, ...] = ()
    errors: tuple[ProblemType, ...] = ()
    scope: Scope | None = None
    also: Scope | None = None
    tags: tuple[str, ...] = ()
    media_type: str = JSON
    is_raw: bool = False
    alias_of: str | None = None
    worded: Route | None = None
    example: object | None = None
    is_listed: bool = True
    outlasts_database: bool = False
    makes_a_job: bool = False
    shared_seconds: float = 0.0

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """All that the token must allow."""
        return tuple(each for each in (self.scope, self.also) if each is not None)

    @property
    def all_errors(self) -> tuple[ProblemType, ...]:
        """Every problem that this route can answer."""
        access = ACCESS_ERRORS if self.scope else ()
        body = BODILESS_ERRORS if self.request is None else BODY_ERRORS
        # What a path cannot mean is not found.
        unknown = (NOT_FOUND,) if "{" in self.path and all(each.status != 404 for each in self.errors) else ()
        return tuple(dict.fromkeys((*access, *body, *self.errors, *unknown, *ALWAYS_POSSIBLE)))


class RouteFields(TypedDict, total=False):
    """The fields of a `Route` that its handler does not say."""

    response: object | None
    request: object | None
    is_body_optional: bool
    parameters: type[msgspec.Struct]
    headers: tuple[str, ...]
    refused_headers: Mapping[str, str]
    status: int
    successes: tuple[Success, ...]
    errors: tuple[ProblemType, ...]
    scope: Scope | None
    also: Scope | None
    tags: tuple[str, ...]
    media_type: str
    is_raw: bool
    example: object | None
    is_listed: bool
    outlasts_database: bool
    makes_a_job: bool
    shared_seconds: float


class Routes:
    """The routes of one noun, in the order in which they are declared.

    What a route takes and answers is read from the types of its handler: `(call: Call[Parameters, Body]) -> Response`. Fields of
    `Route` that are given win over them.

    Args:
        tag: under which the document lists them.
    """

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._routes: list[Route] = []

    def __iter__(self) -> Iterator[Route]:
        return iter(self._routes)

    def __call__(
        self, method: Method, path: str, summary: str, **fields: Unpack[RouteFields]
    ) -> Callable[[Handler], Handler]:
        """The decorated handler answers this method at this path; GET includes HEAD."""

        def declare(handler: Handler) -> Handler:
            hints = get_type_hints(handler, include_extras=True)
            parameters, body = get_args(next(iter(hints.values())))
            read: dict[str, Any] = {"response": hints["return"], "parameters": parameters, "tags": (self._tag,)}
            read |= {} if body is type(None) else {"request": body}
            read |= fields
            self._routes.append(Route(method=method, path=path, handler=handler, summary=summary, **read))
            return handler

        return declare
