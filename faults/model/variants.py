"""Protocols that lack one guard each, and the invariant that each breaks."""

from __future__ import annotations

from typing import NamedTuple

from faults.model.exploring import Size
from faults.model.protocol import Protocol


class Variant(NamedTuple):
    """`breaks` is an invariant, or `stuck`: a job that never ends whatever happens."""

    name: str
    protocol: Protocol
    breaks: str
    size: Size = Size(2, 1, 1)


VARIANTS: tuple[Variant, ...] = (
    Variant("renewals are not guarded", Protocol(guards_renewals=False), "I5"),
    Variant("completions forget the attempt", Protocol(compares_attempts=False), "I5", Size(1, 1, 1)),
    Variant("timelines are ignored", Protocol(heeds_timelines=False), "I3"),
    Variant("attempts are not counted at the claim", Protocol(counts_at_the_claim=False), "I3", Size(1, 1, 1)),
    Variant("attempts go back when a job is given up", Protocol(keeps_attempts=False), "I3", Size(1, 1, 1)),
    Variant("the reaper does not look again", Protocol(reaper_looks_again=False), "I5"),
    Variant("workers do not watch their leases", Protocol(has_trust_window=False), "I14", Size(2, 1, 0)),
    Variant("nobody reaps", Protocol(reaps=False), "stuck"),
)
