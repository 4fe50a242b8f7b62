"""What an answer of the API server means to our caller. Pure."""

from __future__ import annotations

import msgspec

from leasehold.gateway.http.problems import (
    KUBERNETES_REFUSED,
    KUBERNETES_UNAVAILABLE,
    UNKNOWN_STATEFULSET,
    Refusal,
)

LONGEST_REASON = 300
RIGHTS = "the service account of the gateway's pod needs the verbs get and patch on"


class ClusterStatus(msgspec.Struct, frozen=True):
    """The part of a `Status` of Kubernetes that is for people."""

    message: str | None = None


def refusal_of(status: int, body: bytes, what: str) -> Refusal:
    """The refusal for an answer that is no success.

    Args:
        status: of HTTP.
        body: a `Status` of Kubernetes, or whatever a proxy in between says.
        what: that was asked for: `statefulsets/scale of web in the namespace shop`.
    """
    said = f"Kubernetes answered {status}: {_reason(body)}"
    if status == 404:
        return Refusal(UNKNOWN_STATEFULSET, f"there is no {what}; {said}")
    if status == 429 or status >= 500:
        return Refusal(KUBERNETES_UNAVAILABLE, said)
    if status in (401, 403):
        return Refusal(KUBERNETES_REFUSED, f"{RIGHTS} {what}; {said}")
    return Refusal(KUBERNETES_REFUSED, said)


def _reason(body: bytes) -> str:
    try:
        told = msgspec.json.decode(body, type=ClusterStatus).message
    except msgspec.DecodeError:
        told = None
    text = told or body.decode("utf-8", "replace")
    return " ".join(text.split())[:LONGEST_REASON] or "nothing more"
