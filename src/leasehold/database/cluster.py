"""A Postgres cluster in a folder of its own, driven by the programs of one Postgres installation.

The folder holds `data/` (the cluster), `postgres.log` and the socket. Nothing listens on TCP and nobody is asked for
a password: who may enter the folder may connect, and the folder is closed to everybody but its owner.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import psutil

from leasehold.database.programs import Hurries, SystemUser, kill_group, never, run_program
from leasehold.errors import DatabaseError, SettingsError

StopMode = Literal["fast", "immediate"]

DEFAULT_CONF: Mapping[str, str] = {
    "listen_addresses": "",
    "max_connections": "300",
    "max_wal_size": "4GB",
    "wal_compression": "pglz",
    "autovacuum_naptime": "5s",
}
CONF_NAME = "leasehold.conf"
QUIT_SECONDS = 1.0
SOCKET_NAME = ".s.PGSQL.5432"
LONGEST_SOCKET_PATH = 103  # bytes; Linux would allow 107, macOS does not
OUR_FILES = frozenset({
    "data", "data.new", "postgres.log", "start.lock", "users.lock", "gateway.token", SOCKET_NAME, SOCKET_NAME + ".lock",
})  # fmt: skip
PATIENCE = "300"  # seconds; recovering a full max_wal_size after a crash takes its time


class Cluster:
    """One cluster. Every method blocks until what it says has happened.

    `folder` is made if it is missing, `conf` goes over DEFAULT_CONF and is written at each start, `sync=False` makes a
    new cluster without waiting for the disk. As soon as `hurries()`, making and starting it are given up, with nothing left
    that runs, and stopping it takes a second at the most, even if Postgres then has to recover at its next start.

    Raises:
        SettingsError: the folder cannot be used.
        DatabaseError: a program of Postgres fails.
    """

    def __init__(
        self,
        folder: Path,
        programs: Path,
        *,
        conf: Mapping[str, str] | None = None,
        sync: bool = True,
        hurries: Hurries = never,
    ) -> None:
        self.folder = folder.expanduser().resolve()
        self.programs = programs
        self.conf = {**DEFAULT_CONF, **(conf or {})}
        self._sync = sync
        self._hurries = hurries
        self._user = SystemUser.find() if os.geteuid() == 0 else None
        try:
            self.opened = self._claim_folder()
        except OSError as error:
            raise _unusable(self.folder, error) from error

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def version(self) -> int | None:
        """The major version that made the data; None while there is none."""
        return data_version(self.folder)

    @property
    def socket_folder(self) -> Path:
        """The folder itself, or one for temporary files where its path is too long for a socket or holds a comma."""
        if len(os.fsencode(self.folder / SOCKET_NAME)) <= LONGEST_SOCKET_PATH and "," not in str(self.folder):
            return self.folder
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"leasehold-{digest}"

    def dsn(self, database: str = "postgres") -> str:
        """Connects to a database as the superuser of the cluster."""
        return f"postgresql://postgres@/{quote(database, safe='')}?host={quote(str(self.socket_folder))}"

    def start(self) -> None:
        """Make the cluster if there is none yet, and start it unless it is running."""
        if self.version is None:
            self._initialise()
        if self.is_running():
            return
        self._claim_socket_folder()
        self._write_conf()
        self._forget_foreign_pid()
        self._run("pg_ctl", "start", "-w", "-t", PATIENCE, "-D", "data", "-l", "postgres.log", end_sooner=self._quit)

    def stop(self, mode: StopMode = "fast") -> None:
        """Stop it if it is running: `fast` ends the sessions and writes a checkpoint, `immediate` is a crash."""
        if self.is_running():
            self._run("pg_ctl", "stop", "-w", "-t", PATIENCE, "-m", mode, "-D", "data", end_sooner=self._quit)
        if self.socket_folder != self.folder:
            with suppress(OSError):
                self.socket_folder.rmdir()

    def restart(self, mode: StopMode = "fast") -> None:
        self.stop(mode)
        self.start()

    def is_running(self) -> bool:
        pid = self.postmaster_pid()
        if pid is None:
            return False
        try:
            return Path(psutil.Process(pid).cwd()) == self.data
        except psutil.Error:
            return False

    def postmaster_pid(self) -> int | None:
        """The process id that the pid file names, alive or not; None without such a file."""
        try:
            return int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            return None

    def _claim_folder(self) -> list[Path]:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        strangers = {entry.name for entry in self.folder.iterdir()} - OUR_FILES
        if strangers and self.version is None:
            raise SettingsError(
                f"{self.folder} holds other things ({min(strangers)}) and no Postgres data; {_advise(self.folder)}"
            )
        opened: list[Path] = []
        if self._user is not None:
            self._user.own(self.folder)
            opened = self._user.let_through(self.folder) + self._user.let_run(self.programs)
        self.folder.chmod(0o700)
        return opened

    def _claim_socket_folder(self) -> None:
        folder = self.socket_folder
        if folder == self.folder:
            return
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        owners = {os.geteuid()} | ({self._user.uid} if self._user else set[int]())
        # The name can be guessed: a stranger who makes it first could listen there in our place.
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in owners or found.st_mode & 0o077:
            raise SettingsError(
                f"the socket of Postgres belongs in {folder}, which somebody else made; remove that first"
            )
        if self._user is not None:
            self._user.own(folder)

    def _initialise(self) -> None:
        fresh = self.folder / "data.new"
        if fresh.exists():
            shutil.rmtree(fresh)
        options = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-locale"]
        options += [] if self._sync else ["--no-sync"]
        try:
            self._run("initdb", *options, "-D", fresh.name, end_sooner=kill_group)
        except DatabaseError:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        with (fresh / "postgresql.conf").open("a") as conf:
            conf.write(f"\ninclude_if_exists '{CONF_NAME}'\n")
        fresh.rename(self.data)

    def _write_conf(self) -> None:
        settings = {"unix_socket_directories": str(self.socket_folder), **self.conf}
        lines = ("{} = '{}'\n".format(name, value.replace("'", "''")) for name, value in settings.items())
        path = self.data / CONF_NAME
        path.write_text("".join(lines))
        path.chmod(0o644)

    def _forget_foreign_pid(self) -> None:
        """After a crash the pid in the file may be anybody's by now, and Postgres would not start for its sake."""
        pid = self.postmaster_pid()
        if pid is not None and psutil.pid_exists(pid):
            (self.data / "postmaster.pid").unlink()
            (self.socket_folder / f"{SOCKET_NAME}.lock").unlink(missing_ok=True)  # it names the same pid

    def _quit(self, _process_id: int, seconds: float) -> None:
        """Have the server end that a program is waiting for: in good order, and by a crash if that takes too long."""
        pid = self.postmaster_pid()
        if pid is not None and self.is_running():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT if seconds < QUIT_SECONDS else signal.SIGQUIT)

    def _run(self, program: str, *args: str, end_sooner: Callable[[int, float], object]) -> None:
        command = [str(self.programs / program), *args]
        ended = run_program(command, self.folder, self._user, end_sooner, self._hurries)
        if ended.returncode != 0:
            output = f"{ended.stdout}\n{self._log_tail()}".rstrip()
            raise DatabaseError(f"{program} failed ({ended.returncode}) for {self.folder}: {output}")

    def _log_tail(self) -> str:
        try:
            lines = (self.folder / "postgres.log").read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return ""
        return "\n".join(lines[-15:])


def data_version(folder: Path) -> int | None:
    """The major version of the Postgres that made the data in a folder; None if there is none."""
    try:
        return int((folder / "data" / "PG_VERSION").read_text().strip())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unusable(folder, error) from error


def _advise(folder: Path) -> str:
    """Which folder to name instead."""
    if (folder / "PG_VERSION").exists() and (folder.parent / "start.lock").exists():
        return f"name the folder above, {folder.parent}"
    return f"name an empty or a new folder, for instance {folder / '.leasehold' / 'postgres'}"


def _unusable(folder: Path, error: OSError) -> SettingsError:
    return SettingsError(
        f"Postgres cannot keep its data in {folder}: {error.strerror}: {error.filename}; "
        "name a folder of your own (LEASEHOLD_DATA_FOLDER)"
    )
