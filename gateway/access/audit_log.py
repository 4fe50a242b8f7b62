"""The audit log: who did what with the scopes operate and admin, written down before it is done.

If the row cannot be written, the request is refused. A row without a status means that the gateway died during the request.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, cast

import msgspec

from leasehold.database import Caller
from leasehold.errors import LeaseholdError
from leasehold.gateway.access.identities import Identity, Scope
from leasehold.gateway.http.problems import classify
from leasehold.observability.context import acting_as

log = logging.getLogger(__name__)

AUDITED = frozenset({Scope.OPERATE, Scope.ADMIN})
CLOSE_SECONDS = 5.0
UNAUDITED_METHODS = frozenset({"GET"})
UNAUDITED_PATHS = frozenset({"/api/workers/{id}/heartbeat"})
"""What machines say of themselves every few seconds; it would bury what people do."""
HIDDEN = frozenset({"args", "output", "metadata", "secret", "proxy_password"})
"""Fields that belong to the jobs' own people; the log says that they were given, not their values."""
LEFT_OUT = msgspec.Raw(b"null")


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """A request that is to be audited: its METHOD /path, parameters and body."""

    identity: Identity
    action: str
    detail: dict[str, Any]
    address: str | None
    request_id: str


class AuditLog:
    """The table `audit_log`."""

    def __init__(self, database: Caller) -> None:
        self._database = database

    async def audited(self, act: Act, status: int, work: Callable[[], Awaitable[Any]]) -> Any:
        """Write the row, do `work` in the caller's name, then write the status: `status`, unless the result or an error has its
        own."""
        audit_id = await self._write(act)
        try:
            with acting_as(act.identity.name):
                result = await work()
        except Exception as error:
            await self._close(audit_id, act, classify(error).status)
            raise
        await self._close(audit_id, act, getattr(result, "status", None) or status)
        return result

    async def _write(self, act: Act) -> object:
        detail = msgspec.json.encode(act.detail).decode() if act.detail else None
        who = act.identity
        return await self._database.call_value(
            "write_audit", who.name, who.token_id, act.action, detail, act.address, act.request_id
        )

    async def _close(self, audit_id: object, act: Act, status: int) -> None:
        """If that fails, the row stays without a status; the request itself is answered."""
        try:
            await self._database.call_value("close_audit", audit_id, status, timeout=CLOSE_SECONDS)
        except LeaseholdError as error:
            log.warning("audit row %s stays without its status %s: %s", audit_id, status, error)
        ids = {"token_id": act.identity.token_id, "audit_id": audit_id}
        log.info("%s by %s: %s", act.action, act.identity.name, status, extra=ids)


def is_audited(method: str, path: str, scope: Scope | None) -> bool:
    """Whether calls of this route are written to the audit log."""
    return scope in AUDITED and method not in UNAUDITED_METHODS and path not in UNAUDITED_PATHS


def describe(parameters: msgspec.Struct, body: object) -> dict[str, Any]:
    """The parameters and the body for the row, as JSON, without secrets and args."""
    given = {"parameters": _plain(parameters), "body": _plain(body)}
    return {name: value for name, value in given.items() if value not in (None, {})}


def _plain(value: object) -> Any:
    if isinstance(value, msgspec.Struct):
        fields = ((each, getattr(value, each.name)) for each in msgspec.structs.fields(value))
        value = {field.encode_name: each for field, each in fields if not _is_left_out(field, each)}
    if isinstance(value, dict):
        given = cast("dict[str, Any]", value).items()
        return {name: "…" if name in HIDDEN else _plain(each) for name, each in given if each is not None}
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[Any]", value)]
    return msgspec.to_builtins(value, enc_hook=str)


def _is_left_out(field: msgspec.structs.FieldInfo, value: object) -> bool:
    """Whether the caller left the field out: it is the default, or null as JSON."""
    if value is msgspec.UNSET or (isinstance(value, msgspec.Raw) and value == LEFT_OUT):
        return True
    return field.default_factory is not msgspec.NODEFAULT and value is field.default_factory()
