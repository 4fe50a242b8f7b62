"""`leasehold egress add` and `egress retire`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from cyclopts import Parameter

from leasehold.cli.commands.egress.view import AddedIdentity, RetiredIdentity, view_added, view_retired
from leasehold.cli.commands.tokens.tokens import current_user
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_INTEGER, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.durations import parse_duration
from leasehold.egress.locales import USER_AGENT
from leasehold.errors import BadInput

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
