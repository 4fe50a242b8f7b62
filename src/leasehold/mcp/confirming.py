"""A change takes two calls: the first one says what would happen and gives a code, the second one brings the code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from leasehold.errors import BadInput

VALID_SECONDS = 600.0


class Confirmations:
    """Codes that were given out. A code is for one change with the same arguments, once, and for ten minutes.

    Args:
        clock: seconds; only differences count.
        draw: a new code that nobody guesses.
    """

    def __init__(self, clock: Callable[[], float], draw: Callable[[], str]) -> None:
        self._clock = clock
        self._draw = draw
        self._open: dict[str, tuple[str, float]] = {}

    def ask(self, name: str, arguments: Mapping[str, Any]) -> str:
        """A code for this change."""
        now = self._clock()
        self._open = {code: each for code, each in self._open.items() if each[1] > now}
        code = self._draw()
        self._open[code] = (_subject(name, arguments), now + VALID_SECONDS)
        return code

    def take(self, code: str, name: str, arguments: Mapping[str, Any]) -> None:
        """Use a code up.

        Raises:
            BadInput: it was not given out for this, or is used up, or too old. Nothing is changed then.
        """
        subject, until = self._open.pop(code, ("", 0.0))
        if subject != _subject(name, arguments) or until <= self._clock():
            raise BadInput(
                f"the code {code!r} does not confirm {name} with these arguments: it is for another change, was used, or is "
                "more than ten minutes old. Nothing was changed; call it without `confirm` for a new code"
            )


def _subject(name: str, arguments: Mapping[str, Any]) -> str:
    return json.dumps([name, arguments], sort_keys=True)
