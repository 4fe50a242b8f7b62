"""An egress identity under a lease."""

from __future__ import annotations

import msgspec


class LeasedIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """An identity that nobody else uses until it is returned.

    Attributes:
        lease_token: the fencing token: whoever leases it next has a higher one, and this one is refused from then on.
        proxy: http://host:port; None for none. proxy_user, proxy_password: for it.
        locale, time_zone: where it seems to be, as de-DE and Europe/Berlin.
    """

    identity_id: int
    name: str
    lease_token: int
    proxy: str | None
    proxy_user: str | None
    proxy_password: str | None
    user_agent: str
    accept_language: str
    locale: str
    time_zone: str

    def __repr__(self) -> str:
        return f"<LeasedIdentity {self.name!r} proxy={self.proxy}>"

    @property
    def headers(self) -> dict[str, str]:
        """The headers that every request of this identity has."""
        return {"User-Agent": self.user_agent, "Accept-Language": self.accept_language}
