"""Egress identities as others may see them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

IdentityState = Literal["ready", "leased", "cooling", "retired"]


class IdentityRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An egress identity, without the password of its proxy.

    Attributes:
        proxy: http://host:port; None for none.
        retire_after: refusals in a row after which it retires. cool_seconds: how long it rests after the first one.
        refusals: in a row so far; refusals_total: ever.
        cools_for: seconds that it still cools. leased_job: the job that has it.
    """

    identity_id: int
    name: str
    state: IdentityState
    proxy: str | None
    proxy_user: str | None
    user_agent: str
    accept_language: str
    locale: str
    time_zone: str
    retire_after: int
    cool_seconds: float
    refusals: int
    refusals_total: int
    uses: int
    last_outcome: str | None
    used_at: datetime | None
    cools_for: float | None
    leased_job: int | None
    retired_at: datetime | None
    retire_reason: str | None


class IdentityCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many identities are in a state."""

    state: IdentityState
    identities: int
