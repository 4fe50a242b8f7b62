"""The parameters and the answer of the probes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class HealthBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """The service is well. With `?verbose` each check that was made."""

    status: str
    checks: Sequence[str] = ()


class HealthParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much to tell; `?verbose` needs no value."""

    verbose: str | None = None
