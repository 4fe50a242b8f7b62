from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from leasehold.database.programs import SystemUser
from tests.deploy.files import DEPLOY
from tests.support.folders import short_folder
from tests.support.pgbouncer import find_pgbouncer

FOLDER = DEPLOY / "docker/pgbouncer"


def test_pgbouncer_starts_with_our_configuration() -> None:
    """Not in a container: its paths lie in a folder of the test, and it listens on a socket alone."""
    with short_folder() as folder:
        for name in ("pgbouncer.ini", "start.sh"):
            text = (FOLDER / name).read_text().replace("/run/pgbouncer", str(folder))
            text = text.replace("/etc/pgbouncer/", f"{folder}/").replace("listen_addr = *", "listen_addr =")
            (folder / name).write_text(text.replace("unix_socket_dir =", f"unix_socket_dir = {folder}"))
        with start(folder) as process:
            assert process.stderr is not None
            said = next((line for line in process.stderr if "process up" in line or "ERROR" in line), "")
            process.kill()
        assert "process up" in said
        assert (folder / "users.txt").read_text() == '"leasehold" "a ""quoted"" $ecret"\n'
        assert (folder / "users.txt").stat().st_mode & 0o077 == 0
        assert "host=postgres port=5432 dbname=leasehold" in (folder / "databases.ini").read_text()


def start(folder: Path) -> subprocess.Popen[str]:
    user = SystemUser.find() if os.geteuid() == 0 else None
    if user:
        user.own(folder)
    return subprocess.Popen(
        ["sh", str(folder / "start.sh")],
        env={"PATH": f"/usr/bin:/bin:{Path(find_pgbouncer()).parent}", "POSTGRES_HOST": "postgres"}
        | {"POSTGRES_PASSWORD": 'a "quoted" $ecret'},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        user=user.uid if user else None,
        group=user.gid if user else None,
        extra_groups=[] if user else None,
    )


@pytest.mark.parametrize("name", ["POSTGRES_HOST", "POSTGRES_PASSWORD"])
def test_what_it_needs_to_know_is_asked_for(name: str) -> None:
    assert f"${{{name}:?}}" in (FOLDER / "start.sh").read_text()
