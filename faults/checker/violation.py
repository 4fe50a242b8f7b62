"""What a rule finds."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from faults.history.records import Entry


class Violation(msgspec.Struct, frozen=True):
    """A broken invariant, and the records that show it: the smallest window of the history in which it can be seen."""

    rule: str
    message: str
    evidence: Sequence[Entry] = ()

    def describe(self, most: int = 12) -> str:
        """For people: the message, then the records."""
        shown = [f"    {entry}" for entry in self.evidence[:most]]
        left = len(self.evidence) - len(shown)
        return "\n".join([f"{self.rule}: {self.message}", *shown, *([f"    … and {left} more"] if left > 0 else [])])
