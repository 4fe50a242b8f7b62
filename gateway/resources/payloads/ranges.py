"""The header Range (RFC 9110 §14), as far as one range of bytes goes."""

from __future__ import annotations

import re

RANGE = re.compile(r"bytes=(\d{1,18})?-(\d{1,18})?", re.ASCII)


class Unsatisfiable(ValueError):
    """The range lies behind the end."""


def range_of(header: str | None, size: int) -> tuple[int, int] | None:
    """The first byte and the one behind the last; None: the whole is asked for, or something that may be ignored.

    Raises:
        Unsatisfiable: no byte lies in the range.
    """
    found = RANGE.fullmatch(header.replace(" ", "")) if header else None
    if found is None or found.groups() == (None, None):
        return None
    first, last = found.groups()
    if first is None:
        start, stop = max(0, size - int(last)), size
    else:
        start, stop = int(first), size if last is None else min(int(last) + 1, size)
        if last is not None and int(last) < start:
            return None
    if start >= stop:
        raise Unsatisfiable(header)
    return start, stop
