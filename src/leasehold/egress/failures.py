"""How a request to another server ends that did not go well.

LeaseholdError
└── EgressError
    ├── EgressMissing     httpx is not installed
    ├── HostUnreachable   the server does not answer
    ├── EgressRefused     the server refused every identity that tried
    └── RobotsForbid      robots.txt of the server forbids it
"""

from __future__ import annotations

from leasehold.errors import LeaseholdError


class EgressError(LeaseholdError):
    """A request to another server did not go well."""


class EgressMissing(EgressError):
    """Egress needs httpx: pip install 'leasehold[egress]'."""


class HostUnreachable(EgressError):
    """The server does not answer."""


class EgressRefused(EgressError):
    """The server refused every identity that tried.

    Attributes:
        status: of its last answer; None if there was none.
    """

    def __init__(self, message: str | None = None, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class RobotsForbid(EgressError):
    """robots.txt of the server forbids it."""
