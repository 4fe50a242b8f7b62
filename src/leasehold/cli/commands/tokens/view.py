"""Tokens and the audit log as people read them. Wherever text comes from a token's maker or a caller, it is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from rich.console import RenderableType
from rich.text import Text

from leasehold.access.records import AuditEntry, TokenRecord
from leasehold.cli.views.text import plain, show_instant, table

STATE_STYLES = {"active": "green", "expired": "yellow", "revoked": "dim"}


class MadeToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token just made, the only time that its secret is shown; `also_active`: others of this name."""

    token_id: int
    name: str
    secret: str
    also_active: list[int] = []


def view_made(report: MadeToken, _now: datetime) -> Sequence[RenderableType]:
    """The secret alone on its line, so that it can be copied, and what to do next."""
    parts: list[RenderableType] = [
        Text(report.secret),
        Text(""),
        plain(f"token {report.token_id} of {report.name}; it is shown this once"),
        Text("use it as  Authorization: Bearer TOKEN"),
    ]
    if report.also_active:
        others = ", ".join(map(str, report.also_active))
        parts.append(plain(f"still active: {others}; end it with  leasehold tokens revoke {report.also_active[0]}"))
    return parts


class RevokedTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Which tokens of a name were revoked."""

    name: str
    revoked: list[int]


def view_revoked(report: RevokedTokens, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    if not report.revoked:
        return [Text(f"no token of {report.name} was active")]
    numbers = ", ".join(map(str, report.revoked))
    return [Text(f"{report.name}: token {numbers} revoked; gateways refuse it within a second")]


def view_tokens(tokens: list[TokenRecord], _now: datetime) -> Sequence[RenderableType]:
    """One line each."""
    heads = ["id", "name", "begins", "scopes", "state", "rate", "last used", "expires", "made by"]
    return [table(heads, [_row(each) for each in tokens], right=["id"], cut="made by")]


def view_log(entries: list[AuditEntry], _now: datetime) -> Sequence[RenderableType]:
    """One line each."""
    rows = [
        [
            show_instant(each.at),
            plain(each.actor),
            plain(each.action),
            plain("" if each.detail is None else msgspec.json.encode(each.detail).decode()),
            "-" if each.status is None else str(each.status),
            plain(each.request_id or "-"),
        ]
        for each in entries
    ]
    return [table(["at", "who", "what", "of what", "status", "request"], rows, cut="of what")]


def _row(token: TokenRecord) -> list[RenderableType]:
    return [
        str(token.token_id),
        plain(token.name),
        plain(token.prefix + "…"),
        ",".join(token.scopes),
        Text(token.state, STATE_STYLES.get(token.state, "")),
        "-" if token.rate is None else f"{token.rate:.4g}/s",
        "never" if token.last_used_at is None else show_instant(token.last_used_at),
        "never" if token.expires_at is None else show_instant(token.expires_at),
        plain(token.created_by),
    ]
