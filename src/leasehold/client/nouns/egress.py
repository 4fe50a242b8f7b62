"""Egress: the identities under which jobs call servers of others."""

from __future__ import annotations

from datetime import UTC, datetime
from time import monotonic

from leasehold.client.core import Part
from leasehold.database.calls import from_row
from leasehold.egress import host_of
from leasehold.egress.answers import Fared, HostUnreachable, Outcome, judge
from leasehold.egress.browser import Browser, ProxyFailed
from leasehold.egress.identity import USER_AGENT, LeasedIdentity, accept_language, fitting_zone
from leasehold.errors import WrongState
from leasehold.records.workers import IdentityRecord, TestedIdentity

TEST_SECONDS = 20.0


class Identities(Part):
    """`client.egress`: identities for `leasehold.egress.Web`."""

    async def add(
        self,
        name: str,
        *,
        locale: str = "en-US",
        time_zone: str | None = None,
        user_agent: str = USER_AGENT,
        proxy: str | None = None,
        proxy_user: str | None = None,
        proxy_password: str | None = None,
        retire_after: int = 5,
        cool_seconds: float = 60.0,
        added_by: str | None = None,
    ) -> int:
        """Add an identity, or change the one of this name; a retired one comes back. Returns its id.

        Example:
            await client.egress.add("berlin-1", locale="de-DE", proxy="http://proxy.example:3128")

        Args:
            locale: language and country; Accept-Language is made from it.
            time_zone: one of that country; None: its first one.
            user_agent: the header; by default it says what it is.
            proxy: http://, https:// or socks5://host:port; None for none.
            proxy_user, proxy_password: for the proxy. Nobody but workers gets the password back.
            retire_after: refusals in a row after which it retires.
            cool_seconds: how long it rests after the first refusal; twice as long after each further one in a row.
            added_by: for the audit log; None: the database user.

        Raises:
            BadInput: a value is refused, or the time zone is in another country than the locale.
        """
        shown = (name, user_agent, accept_language(locale), locale, fitting_zone(locale, time_zone))
        way = (proxy, proxy_user, proxy_password, retire_after, cool_seconds)
        added = await self._database.call_value("add_identity", *shown, *way, added_by)
        assert isinstance(added, int)
        return added

    async def list(self, *, everything: bool = False) -> list[IdentityRecord]:
        """List the identities by name, without passwords.

        Args:
            everything: also those that are retired.
        """
        return await self._records(IdentityRecord, "list_identities", everything)

    async def retire(self, name: str, reason: str | None = None, *, retired_by: str | None = None) -> bool:
        """Give an identity to nobody any more; returns whether it was in use until now. `add` brings it back.

        Args:
            reason: for people.
            retired_by: for the audit log; None: the database user.

        Raises:
            UnknownIdentity: no identity has this name.
        """
        return bool(await self._database.call_value("retire_identity", name, reason, retired_by))

    async def take(self, name: str | None = None, *, seconds: float = 60.0) -> LeasedIdentity:
        """Lease an identity outside a job, for a time; with the password of its proxy. Jobs use `leasehold.egress.Web`.

        Args:
            name: of the one that is wanted; None: the one that was used least recently.
            seconds: until the lease ends by itself, at most an hour.

        Raises:
            WrongState: none is free.
        """
        [row] = await self._database.call("take_identity", seconds=float(seconds), wanted=name)
        if row["identity_id"] is None:
            which = "no egress identity" if name is None else f"egress identity {name} is unknown, retired or not"
            raise WrongState(f"{which} free right now: see `leasehold egress list --all`")
        return from_row(LeasedIdentity, row)

    async def give_back(
        self, identity: LeasedIdentity, outcome: Outcome | None = None, cool_for: float | None = None
    ) -> str:
        """Return an identity that `take` leased; returns its state: ready, cooling or retired.

        Args:
            identity: as `take` gave it.
            outcome: fine, refused, busy or unreachable; None says nothing of it.
            cool_for: seconds that the server asked it to stay away.

        Raises:
            LeaseLost: the lease is over and somebody else has it, or it was returned.
        """
        values = (identity.identity_id, identity.lease_token, outcome, cool_for)
        return str(await self._database.call_value("return_identity", *values))

    async def test(self, name: str, url: str, *, only_public: bool = False) -> TestedIdentity:
        """Send one GET under an identity, which is leased meanwhile. The answer counts as one that a job got: after a 403 the
        identity cools. Redirects are not followed, the body is not read, and 20 s are the most that it takes.

        Args:
            name: of the identity. url: of the page.
            only_public: ask no loopback nor private address, where the identity has no proxy: for who asks in the name of others.

        Raises:
            BadInput: it is no URL of http or https.
            leasehold.egress.AddressInside: `only_public` forbids its address.
            WrongState: the identity is unknown, retired or not free.
            leasehold.egress.EgressMissing: httpx is not installed.
        """
        host_of(url)
        identity = await self.take(name, seconds=3 * TEST_SECONDS)
        fared, status, problem = None, None, None
        began = monotonic()
        try:
            fared, status, problem = await _look(identity, url, only_public)
        finally:
            seconds = monotonic() - began
            outcome, cool_for = (None, None) if fared is None else (fared.outcome, fared.cool_for)
            state = await self.give_back(identity, outcome, cool_for)
        return TestedIdentity(name=name, url=url, status=status, seconds=seconds, problem=problem, state=state)


async def _look(identity: LeasedIdentity, url: str, only_public: bool) -> tuple[Fared | None, int | None, str | None]:
    """How the identity fared (None: the server did not answer, which says nothing of it), the status, and what went wrong."""
    browser = Browser(identity, TEST_SECONDS)
    try:
        status, headers = await browser.look(url, only_public=only_public)
    except ProxyFailed as error:
        return Fared("unreachable"), None, f"the proxy failed: {error}"
    except HostUnreachable as error:
        return None, None, str(error)
    finally:
        await browser.close()
    return judge(status, headers, datetime.now(UTC)), status, None
