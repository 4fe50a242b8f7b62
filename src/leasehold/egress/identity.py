"""An egress identity under a lease, and what fits its locale: the Accept-Language and the time zones."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

import msgspec

from leasehold.errors import BadInput

USER_AGENT = "leasehold-egress/1"
"""Says what it is. Give an identity another one where a server wants a name and an address."""


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


def accept_language(locale: str) -> str:
    """The header of somebody of this locale: `de-DE,de;q=0.9,en;q=0.8`."""
    language = locale.split("-", maxsplit=1)[0]
    return f"{locale},{language};q=0.9" + ("" if language == "en" else ",en;q=0.8")


def fitting_zone(locale: str, time_zone: str | None) -> str:
    """The time zone, if it is one of the country of the locale; the first of the country if none is given.

    Raises:
        BadInput: the locale is no language and country, or the zone is in another country.
    """
    if re.fullmatch("[a-z]{2,3}-[A-Z]{2}", locale) is None:
        raise BadInput(f"locale must be a language and a country, as de-DE, not {locale!r}")
    country = locale[-2:]
    zones = _zones().get(country)
    if zones is None:
        raise BadInput(f"locale {locale}: there is no country {country}")
    if time_zone is None:
        return zones[0]
    if time_zone not in zones:
        raise BadInput(f"time zone {time_zone} does not fit locale {locale}; {country} has {', '.join(zones[:8])}")
    return time_zone


@cache
def _zones() -> dict[str, list[str]]:
    """The time zones of each country, the one of most people first as far as the table of IANA has it so."""
    zones: dict[str, list[str]] = {}
    for line in files("tzdata.zoneinfo").joinpath("zone.tab").read_text().splitlines():
        if line and not line.startswith("#"):
            country, _, zone = line.split("\t")[:3]
            zones.setdefault(country, []).append(zone)
    return zones
