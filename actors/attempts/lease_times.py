"""The times of a lease: pure, in seconds. docs/leases.md says why."""

from __future__ import annotations


def lease_margin(lease: float) -> float:
    """Seconds before the lease's end at which its owner stops trusting it: a sixth, at most five seconds."""
    return min(5.0, lease / 6)


def renewal_time(renew_seconds: float, lease: float) -> float:
    """Seconds after a claim or renewal at which the next one is due: as configured, at most a third of the lease."""
    return min(renew_seconds, lease / 3)
