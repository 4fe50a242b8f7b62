"""Standbys: a copy of a cluster that follows it, and takes its place."""

from __future__ import annotations

import subprocess
import time
from typing import LiteralString

import psycopg

from leasehold.database.cluster import Cluster

NAME = "standby"
LOOK_AGAIN = 0.05
IN_SYNC: LiteralString = "select exists (select from pg_stat_replication where sync_state = 'sync')"
IS_PRIMARY: LiteralString = "select not pg_is_in_recovery()"


def copy_to(primary: Cluster, standby: Cluster) -> None:
    """Fill the folder of a standby, which has not begun, with what the running primary holds."""
    source = f"host={primary.socket_folder} user=postgres application_name={NAME}"
    owner = primary.data.stat()  # Postgres does not run as root
    subprocess.run(
        [str(primary.programs / "pg_basebackup"), "-d", source, "-D", str(standby.data), "-R", "-c", "fast", "-X", "stream"],
        check=True,
        capture_output=True,
        cwd=standby.folder,
        user=owner.st_uid,
        group=owner.st_gid,
        extra_groups=[],
    )  # fmt: skip


def change_over(primary: Cluster, standby: Cluster, database: str) -> None:
    """The standby follows until each commit waits for it; then the primary is gone in an instant, and it takes its place."""
    copy_to(primary, standby)
    standby.start()
    with psycopg.connect(primary.dsn(database), autocommit=True, application_name="faults") as connection:
        connection.execute(f"alter system set synchronous_standby_names = '{NAME}'")
        connection.execute("select pg_reload_conf()")
        _until(connection, IN_SYNC)
    primary.stop("immediate")
    with psycopg.connect(standby.dsn(database), autocommit=True, application_name="faults") as connection:
        connection.execute("select pg_promote()")
        _until(connection, IS_PRIMARY)


def _until(connection: psycopg.Connection, question: LiteralString) -> None:
    while not connection.execute(question).fetchall()[0][0]:
        time.sleep(LOOK_AGAIN)
