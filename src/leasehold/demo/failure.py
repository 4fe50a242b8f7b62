"""What ends a demo early."""

from __future__ import annotations

from leasehold.errors import LeaseholdError


class DemoFailed(LeaseholdError):
    """The demo could not go on."""
