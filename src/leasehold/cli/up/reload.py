"""`leasehold up --reload`: what knows the app starts again when its files change.

The files are looked at again and again, by their times and sizes. That needs no library, and works where the kernel tells of
no changes: in containers and on shared folders. Looking takes a twentieth of a core at the most.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

import trio

from leasehold.cli.up.processes import OURSELVES

LOOK_SECONDS = 0.5
QUIET_SECONDS = 0.1
SHARE = 20  # a look is followed by this many times its length without one
SKIPPED = frozenset({"__pycache__", "node_modules", "build", "dist"})
SETTINGS = "leasehold.toml"
MOST_NAMED = 3

Seen = Mapping[str, tuple[int, int]]


def folders_of(app: str | None) -> list[Path]:
    """The current folder, and that of the app's own package where it lies elsewhere."""
    here = Path.cwd()
    package = (app or "").partition(":")[0].partition(".")[0]
    file = getattr(sys.modules.get(package), "__file__", None)
    there = Path(file).resolve().parent if file else here
    is_package = file is not None and Path(file).name == "__init__.py"
    return [here, there] if is_package and not there.is_relative_to(here) else [here]


def look(folders: Sequence[Path]) -> Seen:
    """Time and size of each Python file and of leasehold.toml, without hidden folders and virtual environments."""
    return dict(entry for folder in folders for entry in _files(folder))


def _files(folder: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    for place, folders, names in os.walk(folder):
        if "pyvenv.cfg" in names:
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".") and name not in SKIPPED]
        for name in names:
            if name.endswith(".py") or name == SETTINGS:
                path = os.path.join(place, name)
                try:
                    found = os.stat(path)
                except OSError:  # it is gone by now
                    continue
                yield path, (found.st_mtime_ns, found.st_size)


def differences(before: Seen, after: Seen) -> list[str]:
    """The paths that were added, changed or removed."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def describe(paths: Sequence[str]) -> str:
    """`shop.py, jobs/mail.py and 4 more`."""
    here = Path.cwd()
    shown = [os.path.relpath(path, here) if Path(path).is_relative_to(here) else path for path in paths[:MOST_NAMED]]
    more = len(paths) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


class Reloader:
    """Watches the files of an app from the moment that it is made."""

    def __init__(self, app: str | None, show: Callable[[str, str], object]) -> None:
        self._folders = folders_of(app)
        self._show = show
        self._seen = look(self._folders)

    async def run(self, names: Collection[str], restart: Callable[[Collection[str]], Awaitable[None]]) -> None:
        """Have these processes started again after each change, once the files are left in peace. Goes on until cancelled."""
        while True:
            changed = await self._next_change()
            self._show(OURSELVES, f"{describe(changed)} changed; starting {', '.join(sorted(names))} again")
            await restart(names)

    async def _next_change(self) -> list[str]:
        while not (changed := differences(self._seen, await self._look(LOOK_SECONDS))):
            continue
        before, self._seen = self._seen, await self._look(0)
        while (again := await self._look(QUIET_SECONDS)) != self._seen:
            self._seen = again
        return differences(before, self._seen) or changed

    async def _look(self, wait: float) -> Seen:
        await trio.sleep(wait)
        began = time.monotonic()
        seen = await trio.to_thread.run_sync(look, self._folders)
        await trio.sleep(SHARE * (time.monotonic() - began) if wait == LOOK_SECONDS else 0)
        return seen
