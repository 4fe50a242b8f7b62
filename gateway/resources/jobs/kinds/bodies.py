"""Parameters of `/api/kinds…`."""

from __future__ import annotations

import msgspec

from leasehold.gateway.http.fields import Name


class KindParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which kind."""

    kind: Name
