"""Requests to servers of others under leased identities: a proxy or none, headers that fit it, cooling, robots.txt.

Handlers come in by `Web`; `client.egress` adds and lists identities. `answers.py` and `identity.py` decide, `browser.py` sends.
Needs httpx (extra `egress`). Start with `web.py`.
"""

from leasehold.egress.answers import (
    AddressInside,
    EgressError,
    EgressMissing,
    EgressRefused,
    HostUnreachable,
    RobotsForbid,
)
from leasehold.egress.web import Web, host_of

__all__ = [
    "AddressInside",
    "EgressError",
    "EgressMissing",
    "EgressRefused",
    "HostUnreachable",
    "RobotsForbid",
    "Web",
    "host_of",
]
