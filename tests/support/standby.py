"""A server with a standby, and a switch between the two, as a failover of a managed database looks from outside."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from functools import partial

import trio

from faults.fleet.standby import NAME, copy_to
from leasehold.database.cluster import Cluster
from leasehold.database.migrations import migrate
from tests.support.folders import short_folder
from tests.support.proxy import Proxy, serving
from tests.support.servers import programs_of, psql_on

CONF = {"wal_level": "replica", "hot_standby": "on", "max_wal_senders": "4", "fsync": "off", "full_page_writes": "off"}


class Pair:
    """A primary and its standby. `cut` stops replication, `promote` makes the standby a primary."""

    def __init__(self, primary: Cluster, standby: Cluster) -> None:
        self.primary = primary
        self.standby = standby

    def on_primary(self, statement: str) -> str:
        return psql_on(str(self.primary.programs / "psql"), self.primary.dsn(), statement)

    def on_standby(self, statement: str) -> str:
        return psql_on(str(self.standby.programs / "psql"), self.standby.dsn(), statement)

    def await_replication(self) -> None:
        """Until the standby has replayed what the primary has committed."""
        here = self.on_primary("select pg_current_wal_lsn()")
        _until(lambda: self.on_standby(f"select pg_last_wal_replay_lsn() >= '{here}'"))

    def cut(self) -> None:
        """What is committed from now on does not reach the standby."""
        self.await_replication()
        self.on_standby("alter system set primary_conninfo = ''")
        self.on_standby("select pg_reload_conf()")
        _until(lambda: self.on_standby("select not exists (select from pg_stat_wal_receiver)"))

    def synchronous(self) -> None:
        """Commits wait for the standby from now on."""
        self.on_primary(f"alter system set synchronous_standby_names = '{NAME}'")
        self.on_primary("select pg_reload_conf()")
        _until(lambda: self.on_primary("select exists (select from pg_stat_replication where sync_state = 'sync')"))

    def promote(self) -> None:
        """The primary is gone, and the standby takes its place."""
        self.primary.stop("immediate")
        self.on_standby("select pg_promote()")


def _until(ask: Callable[[], str]) -> None:
    """Ask until the answer is yes; each question is a psql of its own, which takes as long as a pause would."""
    while ask() != "t":
        pass


@contextmanager
def replicated(choice: str) -> Generator[Pair]:
    """A migrated primary with a standby that follows it."""
    programs = programs_of("embedded18" if "://" in choice else choice)
    with short_folder() as first, short_folder() as second:
        primary = Cluster(first, programs, conf=CONF, sync=False)
        primary.start()
        standby = Cluster(second, programs, conf=CONF, sync=False)
        try:
            trio.run(migrate, primary.dsn())
            copy_to(primary, standby)
            standby.start()
            yield Pair(primary, standby)
        finally:
            for each in (primary, standby):
                each.stop("immediate")


class Switch(Proxy):
    """Leads to the primary until it is switched; cuts what is connected when it is."""

    def __init__(self, target: str, port: int) -> None:
        super().__init__(target, port)
        self._is_open = True
        self._open: set[trio.CancelScope] = set()

    async def serve(self, client: trio.SocketStream) -> None:
        """One connection; refused while the switch leads nowhere."""
        with trio.CancelScope() as scope, suppress(trio.BrokenResourceError, trio.ClosedResourceError, OSError):
            self._open.add(scope)
            try:
                if self._is_open:
                    await super().serve(client)
                else:
                    await client.aclose()
            finally:
                self._open.discard(scope)

    def off(self) -> None:
        """Nobody gets through, and all connections break."""
        self._is_open = False
        for scope in list(self._open):
            scope.cancel()

    def lead_to(self, cluster: Cluster) -> None:
        """From now on connections go there."""
        self._socket_folder = str(cluster.socket_folder)
        self._is_open = True


def switched(cluster: Cluster) -> AbstractAsyncContextManager[Switch]:
    """A switch that leads to this cluster."""
    return serving(partial(Switch, cluster.dsn()))
