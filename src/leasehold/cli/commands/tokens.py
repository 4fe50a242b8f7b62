"""`leasehold tokens …`, and how tokens look."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.access.tokens import AuditEntry, NewToken, TokenRecord
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_INTEGER, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import clock_time, json_text, parse_duration, plain, table
from leasehold.errors import BadInput, NotFound
from leasehold.observability.wording import show_instant
from leasehold.settings.sources import suggest

if TYPE_CHECKING:
    from leasehold.client import Client


FIRST = (
    "this is the only token, unless the gateway's settings have gateway_token: "
    "from now on a gateway serves nobody without one, the dashboard on this machine included"
)
LAST = (
    "that was the last token, unless the gateway's settings have gateway_token: "
    "a gateway on loopback serves everybody who reaches it again, others serve nobody"
)
EXPIRED = "no token is active; a gateway stays closed until those that have expired are revoked, too: "
STATE_STYLES = {"active": "green", "expired": "yellow", "revoked": "dim"}


class MadeToken(NewToken, frozen=True, kw_only=True):
    """A token just made, the only time that its secret is shown; `also_active`: others of this name."""

    also_active: list[int]


def view_made(report: MadeToken, _now: datetime) -> Sequence[RenderableType]:
    """The secret alone, so that a shell can take it: `T=$(leasehold tokens create …)`."""
    return [Text(report.secret)]


class RevokedTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Which tokens of a name were revoked; `had_expired`: those of them that were active no more."""

    name: str
    revoked: list[int]
    had_expired: list[int] = []


def view_revoked(report: RevokedTokens, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    if not report.revoked:
        return [Text(f"no token of {report.name} was active")]
    numbers = ", ".join(map(str, report.revoked))
    if report.had_expired:
        return [Text(f"{report.name}: token {numbers} had expired and is revoked now")]
    return [Text(f"{report.name}: token {numbers} revoked; gateways refuse it within a second")]


def view_tokens(tokens: list[TokenRecord], _now: datetime) -> Sequence[RenderableType]:
    """One line each."""
    heads = ["id", "name", "begins", "scopes", "state", "last used", "expires", "made by"]
    return [table(heads, [_row(each) for each in tokens], right=["id"], cut="made by")]


def view_log(entries: list[AuditEntry], _now: datetime) -> Sequence[RenderableType]:
    """One line each."""
    rows = [
        [
            clock_time(each.at),
            plain(each.actor),
            "-" if each.status is None else str(each.status),
            plain(_what(each)),
        ]
        for each in entries
    ]
    return [table(["at (UTC)", "who", "status", "what"], rows, right=["status"], cut="what")]


def _what(entry: AuditEntry) -> str:
    detail = "" if entry.detail is None else f" {json_text(entry.detail, indent=0)}"
    return entry.action + detail + (f" (request {entry.request_id})" if entry.request_id else "")


def _row(token: TokenRecord) -> list[RenderableType]:
    return [
        str(token.token_id),
        plain(token.name),
        plain(token.prefix + "…"),
        ",".join(token.scopes),
        Text(token.state, STATE_STYLES.get(token.state, "")),
        "never" if token.last_used_at is None else show_instant(token.last_used_at),
        "never" if token.expires_at is None else show_instant(token.expires_at),
        plain(token.created_by),
    ]


SCOPE = Parameter(help="What it may do, comma separated: enqueue, read, operate (with read), admin (all).", negative=())
EXPIRES = Parameter(help="When it ends by itself: 90d, 12h. Never if not given.")
EVERYTHING = Parameter(name="--all", help="Those that are revoked or expired, too.", negative=())
OF_A_NAME = Parameter(name="--all", help="All active ones that are meant, not only one.", negative=())


@shown_as(view_made)
async def tokens_create(
    name: str,
    /,
    *,
    scope: Annotated[list[str], SCOPE],
    expires_in: Annotated[str | None, EXPIRES] = None,
    context: Annotated[CommandContext, INJECTED],
) -> MadeToken:
    """Make an access token for the gateway.

    The token is printed this one time, alone on standard output; the database stores a hash. Two tokens of a name may be active,
    so that a new one can replace the old one. With the first one, the gateway no longer serves callers without a token,
    until the last one is revoked.

    Example:
      leasehold tokens create shop --scope enqueue
      leasehold tokens create grafana --scope read --expires-in 90d
    """
    span = None if expires_in is None else parse_duration(expires_in)
    async with context.client() as client:
        made = await client.tokens.create(name, _scopes(scope), expires_in=span, created_by=current_user())
        if not context.settings.gateway_token and len(await _unrevoked(client)) == 1:
            context.say(FIRST)
        return _made(context, made, await client.tokens.list(name))


@shown_as(view_made)
async def tokens_rotate(
    name: str,
    /,
    *,
    expires_in: Annotated[str | None, EXPIRES] = None,
    context: Annotated[CommandContext, INJECTED],
) -> MadeToken:
    """Make a second token with the same name and scopes as the newest one.

    Both work until the old one is revoked: give the new one to its user, then revoke the old one by its id.

    Example:
      leasehold tokens rotate shop
      leasehold tokens revoke 1
    """
    span = None if expires_in is None else parse_duration(expires_in)
    async with context.client() as client:
        active = await client.tokens.list(name)
        if not active:
            raise NotFound(f"no token of {name} is active{await _suggestion(client, name)}")
        old = active[0]
        made = await client.tokens.create(name, old.scopes, expires_in=span, created_by=current_user())
        return _made(context, made, [*active, *await client.tokens.list(name)])


@shown_as(view_tokens)
async def tokens_list(
    name: str | None = None,
    /,
    *,
    everything: Annotated[bool, EVERYTHING] = False,
    context: Annotated[CommandContext, INJECTED],
) -> list[TokenRecord]:
    """List the tokens, the newest first, without their secrets.

    Example:
      leasehold tokens list --all
    """
    async with context.client() as client:
        return await client.tokens.list(name, everything=everything)


@shown_as(view_revoked)
async def tokens_revoke(
    token: str,
    /,
    *,
    everything: Annotated[bool, OF_A_NAME] = False,
    context: Annotated[CommandContext, INJECTED],
) -> RevokedTokens:
    """Revoke a token, by its id, its name or how it begins.

    `tokens list` shows all three. If two tokens of a name are active, give the id of one, or --all for both. Gateways
    refuse it within a second. Requests in flight are still answered.

    Example:
      leasehold tokens revoke shop
      leasehold tokens revoke 1
      leasehold tokens revoke lh_Zq3xY0
      leasehold tokens revoke shop --all
    """
    async with context.client() as client:
        found = [each for each in await client.tokens.list(everything=True) if _is_named(each, token)]
        if not found:
            raise NotFound(f"there is no token {token}{await _suggestion(client, token)}")
        active = [each for each in found if each.state == "active"]
        if len(active) > 1 and not everything:
            raise BadInput(f"{token} may be any of {len(active)} active tokens: {_list_apart(active)}")
        chosen = sorted(each.token_id for each in active or found)
        before = await _unrevoked(client)
        expired = {each.token_id for each in before if each.state == "expired"}
        revoked = [each for each in chosen if await client.tokens.revoke(each, revoked_by=current_user())]
        if not context.settings.gateway_token:
            _say_what_is_left(context, before, await _unrevoked(client))
    return RevokedTokens(
        name=", ".join(sorted({each.name for each in active or found})),
        revoked=revoked,
        had_expired=[each for each in revoked if each in expired],
    )


def _say_what_is_left(context: CommandContext, before: Sequence[TokenRecord], after: Sequence[TokenRecord]) -> None:
    if before and not after:
        context.say(LAST)
    elif after and all(each.state == "expired" for each in after):
        context.say(EXPIRED + ", ".join(f"{each.token_id} ({each.name})" for each in reversed(after)))


async def _unrevoked(client: Client) -> list[TokenRecord]:
    """What closes a gateway to callers without a token."""
    return [each for each in await client.tokens.list(everything=True) if each.state != "revoked"]


def _is_named(token: TokenRecord, given: str) -> bool:
    return given in (token.name, str(token.token_id), token.prefix)


def _list_apart(tokens: Sequence[TokenRecord]) -> str:
    listed = "; ".join(
        f"{each.token_id} ({each.name}, {each.prefix}…, "
        + ("never used)" if each.last_used_at is None else f"last used {show_instant(each.last_used_at)})")
        for each in sorted(tokens, key=lambda each: each.token_id)
    )
    return f"{listed}; end one with  leasehold tokens revoke {tokens[-1].token_id}, or all with --all"


@shown_as(view_log)
async def tokens_log(
    *,
    actor: Annotated[str | None, Parameter(help="Only what this one did.")] = None,
    action: Annotated[str | None, Parameter(help="Only what begins so.")] = None,
    limit: Annotated[int, Parameter(help="The most to list, 1 to 1000."), AN_INTEGER] = 50,
    context: Annotated[CommandContext, INJECTED],
) -> list[AuditEntry]:
    """Show what was done through the gateway and with tokens, the newest first.

    Logged are all requests except GET that need the scope operate or admin, and each token that is made or revoked.

    Example:
      leasehold tokens log --actor ops
    """
    async with context.client() as client:
        return await client.tokens.audit_log(actor=actor, action=action, page_size=limit)


def current_user() -> str:
    """Who is at the command line, for the audit log: user@host."""
    try:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    except (OSError, KeyError):
        return f"@{socket.gethostname()}"


def _scopes(given: Sequence[str]) -> list[str]:
    scopes = [each.strip() for one in given for each in one.split(",") if each.strip()]
    if not scopes:
        raise BadInput("a token needs at least one scope: enqueue, read, operate, admin")
    return scopes


def _made(context: CommandContext, made: NewToken, tokens: Sequence[TokenRecord]) -> MadeToken:
    """The result; what to do with it is said beside it, unless it is read by a program."""
    others = sorted({each.token_id for each in tokens} - {made.token_id})
    if context.common.output in (None, "text"):
        context.say(f"token {made.token_id} of {made.name}; it is shown this once")
        context.say("use it as  Authorization: Bearer TOKEN")
        if others:
            context.say(
                f"still active: {', '.join(map(str, others))}; end it with  leasehold tokens revoke {others[0]}"
            )
    return MadeToken(**msgspec.structs.asdict(made), also_active=others)


async def _suggestion(client: Client, name: str) -> str:
    return suggest(name, sorted({each.name for each in await client.tokens.list(everything=True)}))
