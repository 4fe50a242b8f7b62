"""Tokens: who may call the gateway, and what they did."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from datetime import datetime, timedelta

from leasehold.access.tokens import AuditEntry, NewToken, TokenRecord, hash_token, make_token, prefix_of
from leasehold.asks import checked_before, checked_id
from leasehold.client.core import Part


class Tokens(Part):
    """`client.tokens`: access tokens of the gateway."""

    async def create(
        self,
        name: str,
        scopes: Sequence[str],
        *,
        expires_in: timedelta | None = None,
        created_by: str | None = None,
    ) -> NewToken:
        """Create a token. Only this answer has its secret: the database gets a hash.

        Example:
            made = await client.tokens.create("dashboard", ["read"], expires_in=timedelta(days=90))
            print(made.secret)

        Args:
            name: of the person or program that gets it; it stands in the audit log. Two tokens of one name may be active,
                so that a new one can take over before the old one is revoked.
            scopes: of enqueue, read, operate (which includes read) and admin (which includes all).
            expires_in: how long it is valid; None: until it is revoked.
            created_by: for the audit log; None: the database user.

        Raises:
            BadInput: a value is refused.
            WrongState: two tokens of this name are active.
        """
        secret = make_token()
        seconds = None if expires_in is None else expires_in.total_seconds()
        values = (name, hash_token(secret), prefix_of(secret), [*scopes], seconds, created_by)
        made = await self._database.call_value("create_token", *values)
        assert isinstance(made, int)
        return NewToken(token_id=made, name=name, secret=secret)

    async def list(self, name: str | None = None, *, everything: bool = False) -> list[TokenRecord]:
        """List the active tokens, newest first.

        Args:
            name: only tokens of this name.
            everything: also those that are revoked or have expired.
        """
        return await self._records(TokenRecord, "list_tokens", name, everything)

    async def revoke(self, token_id: int, *, revoked_by: str | None = None) -> bool:
        """Make a token invalid, within a second; returns whether it was not revoked before. One that has expired is revoked, too.

        Args:
            token_id: as `list` tells it.
            revoked_by: for the audit log; None: the database user.

        Raises:
            NotFound: no token has this id.
        """
        return bool(await self._database.call_value("revoke_token", checked_id(token_id), revoked_by))

    async def audit_log(
        self,
        *,
        actor: str | None = None,
        action: str | None = None,
        since: datetime | None = None,
        before_id: int | None = None,
        page_size: int = 100,
    ) -> builtins.list[AuditEntry]:
        """List what was done through the gateway with the scopes operate and admin, and to tokens, newest first.

        Args:
            actor: only what this one did (the name of a token).
            action: only what begins with this, as `POST /api/chains` or `revoke_token`.
            since: only from then on.
            before_id: the id of the last entry of the page before.
            page_size: 1 to 1000.
        """
        return await self._records(AuditEntry, "list_audit", actor, action, since, checked_before(before_id), page_size)
