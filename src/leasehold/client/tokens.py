"""Bearer tokens of the gateway, and what was done with them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from leasehold.access.records import AuditEntry, NewToken, TokenRecord
from leasehold.access.tokens import hash_token, make_token, prefix_of
from leasehold.client.ids import checked_before, checked_id
from leasehold.client.section import Section
from leasehold.database.rows import from_row


class Tokens(Section):
    """The section of the client for who may call the gateway."""

    async def create_token(
        self,
        name: str,
        scopes: Sequence[str],
        *,
        expires_in: timedelta | None = None,
        rate: float | None = None,
        burst: int | None = None,
        created_by: str | None = None,
    ) -> NewToken:
        """Make a token. Its secret is in what this returns and nowhere else: the database gets a hash.

        Args:
            name: of whoever gets it, as it stands in the audit log. Two of a name may be active, so that a new one can
                take over before the old one is revoked.
            scopes: of enqueue, read, operate (which includes read) and admin (which includes all).
            expires_in: when it ends by itself; None: never.
            rate: requests a second on the long run, in each gateway process; None: no limit.
            burst: how many at once; None: those of one second, at least 1.
            created_by: for the audit log; None: the database user.

        Raises:
            BadInput: a value is refused. WrongState: two tokens of this name are active.
        """
        secret = make_token()
        seconds = None if expires_in is None else expires_in.total_seconds()
        made = await self._database.call_value(
            "create_token",
            name,
            hash_token(secret),
            prefix_of(secret),
            list(scopes),
            seconds,
            None if rate is None else float(rate),
            burst,
            created_by,
        )
        assert isinstance(made, int)
        return NewToken(token_id=made, name=name, secret=secret)

    async def tokens(self, name: str | None = None, *, everything: bool = False) -> list[TokenRecord]:
        """The tokens, the newest first; with `everything` those that are revoked or have expired, too."""
        rows = await self._database.call("list_tokens", name, everything)
        return [from_row(TokenRecord, row) for row in rows]

    async def revoke_token(self, token_id: int, *, revoked_by: str | None = None) -> bool:
        """Shut a token out, within a second; returns whether it was active. Raises NotFound."""
        return bool(await self._database.call_value("revoke_token", checked_id(token_id), revoked_by))

    async def audit_log(
        self,
        *,
        actor: str | None = None,
        action: str | None = None,
        since: datetime | None = None,
        before_id: int | None = None,
        page_size: int = 100,
    ) -> list[AuditEntry]:
        """What was done through the gateway with the scopes operate and admin, and with tokens, the newest first.

        Args:
            actor: only by this one (the name of a token).
            action: only what begins so, as `POST /api/chains` or `revoke_token`.
            since: only from then on.
            before_id: the id of the last entry of the page before.
            page_size: 1 to 1000.
        """
        rows = await self._database.call("list_audit", actor, action, since, checked_before(before_id), page_size)
        return [from_row(AuditEntry, row) for row in rows]
