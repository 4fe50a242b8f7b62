"""Where in the user's code an exception came from, in a few words."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from collections.abc import Sequence
from typing import cast

OURS = ("leasehold", "trio", "trio_asyncio", "outcome")
MOST_PLACE = 200


def place_of(error: BaseException) -> str | None:
    """The innermost frame that is neither ours nor a library's, as `shop/jobs.py:42 in charge`; None without one."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    libraries = (*{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")},)
    found: str | None = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        file, module = frame.f_code.co_filename, str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] not in OURS and not file.startswith((*libraries, "<frozen")):
            found = f"{_shorten(file, sys.path)}:{line} in {frame.f_code.co_name}"
    return None if found is None else found[-MOST_PLACE:]


def _shorten(file: str, roots: Sequence[str]) -> str:
    """The path below the folder that it was imported from."""
    folders = sorted((os.path.abspath(root) + os.sep for root in roots), key=len, reverse=True)
    return next((file.removeprefix(folder) for folder in folders if file.startswith(folder)), file)
