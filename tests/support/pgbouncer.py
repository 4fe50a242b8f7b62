"""A real PgBouncer, Debian's, in front of a test's database."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, quote, urlsplit

from tests.support.folders import short_folder
from tests.support.programs import needed

PoolMode = Literal["session", "transaction"]


def find_pgbouncer() -> str:
    """The program; skips the test where there is none."""
    return needed("pgbouncer", "pgbouncer")


@contextmanager
def pgbouncer(dsn: str, mode: PoolMode = "transaction", pool_size: int = 20) -> Generator[str]:
    """The connection string of a PgBouncer that leads to the database of `dsn`, which is on a socket of this machine."""
    program = find_pgbouncer()
    parts = urlsplit(dsn)
    host = parse_qs(parts.query)["host"][0]
    user, database = parts.username or "postgres", parts.path.removeprefix("/")
    with short_folder() as folder:
        _configure(folder, f"host={host} dbname={database} user={user}", user, mode, pool_size)
        with _start(program, folder, Path(host).stat()) as process:
            try:
                yield f"postgresql://{quote(user)}@/pooled?host={quote(str(folder))}&port=6432"
            finally:
                process.kill()


def _configure(folder: Path, target: str, user: str, mode: PoolMode, pool_size: int) -> None:
    lines = [
        "[databases]",
        f"pooled = {target}",
        "[pgbouncer]",
        "listen_port = 6432",
        "listen_addr =",
        f"unix_socket_dir = {folder}",
        "auth_type = any",
        f"pool_mode = {mode}",
        f"default_pool_size = {pool_size}",
        "log_connections = 0",  # few lines, since nobody reads them
        "log_disconnections = 0",
    ]
    (folder / "pgbouncer.ini").write_text("\n".join(lines) + "\n")


def _start(program: str, folder: Path, owner: os.stat_result) -> subprocess.Popen[str]:
    # PgBouncer refuses to be root, and only the owner of Postgres gets at its socket.
    as_root = os.geteuid() == 0
    if as_root:
        os.chown(folder, owner.st_uid, owner.st_gid)
    process = subprocess.Popen(
        [program, str(folder / "pgbouncer.ini")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        user=owner.st_uid if as_root else None,
        group=owner.st_gid if as_root else None,
        extra_groups=[] if as_root else None,
    )
    assert process.stderr is not None
    said: list[str] = []
    for line in process.stderr:
        said.append(line)
        if "process up" in line:
            return process
    raise AssertionError(f"PgBouncer did not start: {''.join(said)}")
