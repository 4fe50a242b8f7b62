"""Which border this process takes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import get_args

from leasehold.concurrency.asyncio_border.border import Border, BorderName
from leasehold.errors import SettingsError

VARIABLE = "LEASEHOLD_ASYNCIO_BORDER"
"""Read by every process that opens a database under trio, also by programs that have no other setting of ours."""
NAMES: tuple[BorderName, ...] = get_args(BorderName)
WITHOUT_TRIO_ASYNCIO = (3, 14)


def border_name(environ: Mapping[str, str], version: tuple[int, int]) -> BorderName:
    """The one that the environment names, else trio-asyncio, where this Python can import it.

    Raises:
        SettingsError: there is no such border, or not on this Python.
    """
    said = environ.get(VARIABLE)
    if not said:
        return "stepped" if version >= WITHOUT_TRIO_ASYNCIO else "trio-asyncio"
    found: BorderName | None = next((name for name in NAMES if name == said), None)
    if found is None:
        raise SettingsError(f"{VARIABLE} is {said!r}; it takes {' or '.join(NAMES)}")
    if found == "trio-asyncio" and version >= WITHOUT_TRIO_ASYNCIO:
        raise SettingsError(
            f"{VARIABLE} is {said!r}, which cannot be imported on Python 3.14 and later; leave it out or say stepped"
        )
    return found


def chosen_border() -> Border:
    """The border of this process. Raises SettingsError as `border_name`."""
    if border_name(os.environ, sys.version_info[:2]) == "stepped":
        from leasehold.concurrency.asyncio_border.stepped import SteppedBorder  # noqa: PLC0415  only the one that is used

        return SteppedBorder()
    from leasehold.concurrency.asyncio_border.over_trio_asyncio import TrioAsyncioBorder  # noqa: PLC0415  as above

    return TrioAsyncioBorder()
