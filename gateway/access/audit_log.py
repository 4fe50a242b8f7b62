"""The audit log: who did what with the scopes operate and admin, written down before it is done.

What cannot be written down is not done. A row that never gets its status was being done when the gateway died.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, cast

import msgspec

from leasehold.database import Caller
from leasehold.errors import LeaseholdError
from leasehold.gateway.access.identities import Identity, Scope
from leasehold.gateway.http.problems import classify
from leasehold.observability.request_context import acting_as

log = logging.getLogger(__name__)

AUDITED = frozenset({Scope.OPERATE, Scope.ADMIN})
CLOSE_SECONDS = 5.0
UNAUDITED_METHODS = frozenset({"GET"})
UNAUDITED_PATHS = frozenset({"/api/workers/{id}/heartbeat"})
"""What machines say of themselves every few seconds; it would bury what people do."""
HIDDEN = frozenset({"args", "output", "metadata", "secret"})
"""Fields that belong to the jobs' own people; that they were given is told, not what."""
LEFT_OUT = msgspec.Raw(b"null")


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody is about to do: the route's METHOD /path, and the parameters and the body that came with it."""

    identity: Identity
    action: str
    detail: dict[str, Any]
    address: str | None
    request_id: str


class AuditLog(Protocol):
    """Where acts are written down."""

    async def write(self, act: Act) -> int:
        """Before it is done; returns the number of the row."""
        ...

    async def close(self, audit_id: int, status: int) -> None:
        """Once it is done."""
        ...


class DatabaseAuditLog:
    """The table `audit_log`."""

    def __init__(self, database: Caller) -> None:
        self._database = database

    async def write(self, act: Act) -> int:
        """One row, without a status."""
        detail = msgspec.json.encode(act.detail).decode() if act.detail else None
        written = await self._database.call_value(
            "write_audit",
            act.identity.name,
            act.identity.token_id,
            act.action,
            detail,
            act.address,
            act.request_id,
        )
        assert isinstance(written, int)
        return written

    async def close(self, audit_id: int, status: int) -> None:
        """Its status. Where that fails, the row stays open: the act itself has ended and is answered."""
        try:
            await self._database.call_value("close_audit", audit_id, status, timeout=CLOSE_SECONDS)
        except LeaseholdError as error:
            log.warning("audit row %s stays without its status %s: %s", audit_id, status, error)


def is_audited(method: str, path: str, scope: Scope | None) -> bool:
    """Whether calls of such a route are written down."""
    return scope in AUDITED and method not in UNAUDITED_METHODS and path not in UNAUDITED_PATHS


async def audited(audit_log: AuditLog, act: Act, status: int, work: Callable[[], Awaitable[Any]]) -> Any:
    """Do `work` in the name of whoever asked for it, between the two halves of its row.

    Args:
        audit_log: where to.
        act: what.
        status: of the answer, unless the result has one of its own, or an error.
        work: what it is that is done.
    """
    audit_id = await audit_log.write(act)
    try:
        with acting_as(act.identity.name):
            result = await work()
    except Exception as error:
        await _close(audit_log, audit_id, act, classify(error).status)
        raise
    await _close(audit_log, audit_id, act, getattr(result, "status", None) or status)
    return result


async def _close(audit_log: AuditLog, audit_id: int, act: Act, status: int) -> None:
    await audit_log.close(audit_id, status)
    told = {"token_id": act.identity.token_id, "audit_id": audit_id}
    log.info("%s by %s: %s", act.action, act.identity.name, status, extra=told)


def describe(parameters: msgspec.Struct, body: object) -> dict[str, Any]:
    """What came with the request, for the row: as JSON, without what is none of an auditor's business."""
    given = {"parameters": _plain(parameters), "body": _plain(body)}
    return {name: value for name, value in given.items() if value not in (None, {})}


def _plain(value: object) -> Any:
    if isinstance(value, msgspec.Struct):
        fields = {each.encode_name: (each, getattr(value, each.name)) for each in msgspec.structs.fields(value)}
        return {
            name: "…" if name in HIDDEN else _plain(each)
            for name, (field, each) in fields.items()
            if each is not msgspec.UNSET and each is not None and not (name in HIDDEN and _is_left_out(field, each))
        }
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[Any]", value)]
    return _without_hidden(msgspec.to_builtins(value, enc_hook=str)) if value is not None else None


def _is_left_out(field: msgspec.structs.FieldInfo, value: object) -> bool:
    """Whether the caller did not send it: null, or the very default, which is a constant for raw JSON."""
    if isinstance(value, msgspec.Raw) and value == LEFT_OUT:
        return True
    return field.default_factory is not msgspec.NODEFAULT and value is field.default_factory()


def _without_hidden(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: "…" if name in HIDDEN and each is not None else _without_hidden(each)
            for name, each in cast("dict[str, Any]", value).items()
            if each is not None
        }
    if isinstance(value, list):
        return [_without_hidden(each) for each in cast("list[Any]", value)]
    return value
