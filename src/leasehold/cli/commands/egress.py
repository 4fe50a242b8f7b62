"""`leasehold egress …`, and how identities look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.commands.tokens import current_user
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.exit_codes import ExitCode
from leasehold.cli.runtime.options import AN_INTEGER, INJECTED
from leasehold.cli.runtime.outcome import Outcome, shown_as
from leasehold.cli.views import ago, parse_duration, plain, table
from leasehold.egress.identity import USER_AGENT
from leasehold.errors import BadInput
from leasehold.observability.wording import show_span
from leasehold.records.workers import IdentityRecord, TestedIdentity

STATE_STYLES = {"ready": "green", "leased": "cyan", "cooling": "yellow", "retired": "dim"}


class AddedIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """An identity that was added or changed."""

    identity_id: int
    name: str


class RetiredIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """An identity after `egress retire`; `changed` is false if it had retired before."""

    name: str
    changed: bool


def view_added(report: AddedIdentity, _now: datetime) -> Sequence[RenderableType]:
    """What to do next."""
    return [plain(f"egress identity {report.name} is there; try it:  leasehold egress test {report.name} URL")]


def view_retired(report: RetiredIdentity, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    return [plain(f"egress identity {report.name} {'is' if report.changed else 'was already'} retired")]


def view_tested(report: TestedIdentity, _now: datetime) -> Sequence[RenderableType]:
    """One sentence, with the state that the identity has now."""
    answer = f"answered {report.status}" if report.status is not None else f"did not answer: {report.problem}"
    line = f"{report.name}: {report.url} {answer} after {report.seconds:.2f} s; the identity is {report.state}"
    return [plain(line, STATE_STYLES.get(report.state, ""))]


def view_identities(identities: list[IdentityRecord], now: datetime) -> Sequence[RenderableType]:
    """One line each."""
    heads = ["name", "state", "proxy", "locale", "zone", "uses", "refused", "in a row", "last used", "note"]
    return [table(heads, [_row(each, now) for each in identities], right=["uses", "refused", "in a row"])]


def _row(identity: IdentityRecord, now: datetime) -> list[RenderableType | str]:
    user = "" if identity.proxy_user is None else f" as {identity.proxy_user}"
    return [
        plain(identity.name),
        Text(identity.state, STATE_STYLES[identity.state]),
        plain("none" if identity.proxy is None else identity.proxy + user),
        identity.locale,
        identity.time_zone,
        f"{identity.uses:,}",
        f"{identity.refusals_total:,}",
        f"{identity.refusals} of {identity.retire_after}",
        "never" if identity.used_at is None else ago(identity.used_at, now),
        plain(_note(identity)),
    ]


def _note(identity: IdentityRecord) -> str:
    match identity.state:
        case "retired":
            return identity.retire_reason or ""
        case "cooling":
            return f"for {show_span(identity.cools_for or 0.0)}"
        case "leased":
            return "by hand" if identity.leased_job is None else f"by job {identity.leased_job}"
        case _:
            return ""


EVERYTHING = Parameter(name="--all", help="Those that are retired, too.", negative=())


@shown_as(view_identities)
async def egress_list(
    *, everything: Annotated[bool, EVERYTHING] = False, context: Annotated[CommandContext, INJECTED]
) -> list[IdentityRecord]:
    """List the egress identities, without the passwords of their proxies.

    Example:
      leasehold egress list --all
    """
    async with context.client() as client:
        return await client.egress.list(everything=everything)


@shown_as(view_tested)
async def egress_test(
    name: str, url: str, /, *, context: Annotated[CommandContext, INJECTED]
) -> Outcome[TestedIdentity]:
    """Send one GET to a URL under an egress identity.

    It is leased meanwhile, and the answer counts as one that a job got: after a 403 it cools. No redirect is followed. Exit code 1
    says that the identity is not ready afterwards, or that nobody answered.

    Example:
      leasehold egress test berlin-1 https://shop.example/
    """
    async with context.client() as client:
        tested = await client.egress.test(name, url)
    return Outcome(tested, ExitCode.DONE if tested.problem is None and tested.state == "ready" else ExitCode.FAILED)


LOCALE = Parameter(help="Language and country; Accept-Language is made from it.")
TIME_ZONE = Parameter(help="A zone of that country; else its first one.")
AGENT = Parameter(help="The header User-Agent; by default it says what it is.")
PROXY = Parameter(help="http://, https:// or socks5://HOST:PORT; none if not given.")
PROXY_USER = Parameter(help="For the proxy.")
PASSWORD_FROM = Parameter(
    help="The environment variable that has the proxy's password; command lines can be read by others."
)
RETIRE_AFTER = Parameter(help="How many refusals in a row retire it.")
COOL = Parameter(
    help="How long it rests after the first refusal: 60s, 5m. Twice as long after each further one in a row."
)


@shown_as(view_added)
async def egress_add(
    name: str,
    /,
    *,
    proxy: Annotated[str | None, PROXY] = None,
    proxy_user: Annotated[str | None, PROXY_USER] = None,
    password_from: Annotated[str | None, PASSWORD_FROM] = None,
    locale: Annotated[str, LOCALE] = "en-US",
    time_zone: Annotated[str | None, TIME_ZONE] = None,
    user_agent: Annotated[str, AGENT] = USER_AGENT,
    retire_after: Annotated[int, RETIRE_AFTER, AN_INTEGER] = 5,
    cool: Annotated[str, COOL] = "60s",
    context: Annotated[CommandContext, INJECTED],
) -> AddedIdentity:
    """Add an egress identity, or change the one of this name.

    A retired one comes back. Workers whose kinds have egress=True do not start while there is none.

    Example:
      leasehold egress add direct
      PASSWORD=… leasehold egress add berlin-1 --locale de-DE --proxy http://proxy.example:3128 \
--proxy-user me --password-from PASSWORD
    """
    async with context.client() as client:
        added = await client.egress.add(
            name,
            locale=locale,
            time_zone=time_zone,
            user_agent=user_agent,
            proxy=proxy,
            proxy_user=proxy_user,
            proxy_password=None if password_from is None else _password(password_from, context.terminal.environ),
            retire_after=retire_after,
            cool_seconds=parse_duration(cool).total_seconds(),
            added_by=current_user(),
        )
    return AddedIdentity(identity_id=added, name=name)


@shown_as(view_retired)
async def egress_retire(
    name: str,
    /,
    *,
    reason: Annotated[str | None, Parameter(help="For people.")] = None,
    context: Annotated[CommandContext, INJECTED],
) -> RetiredIdentity:
    """Give an egress identity to nobody any more. `egress add` brings it back.

    Example:
      leasehold egress retire berlin-1 --reason "the contract has ended"
    """
    async with context.client() as client:
        changed = await client.egress.retire(name, reason, retired_by=current_user())
    return RetiredIdentity(name=name, changed=changed)


def _password(variable: str, environ: Mapping[str, str]) -> str:
    """The value of an environment variable. Raises BadInput if it is not set."""
    if not (password := environ.get(variable)):
        raise BadInput(f"the environment variable {variable} is not set; it should have the password of the proxy")
    return password
