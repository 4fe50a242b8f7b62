"""What `up` watches besides its processes: their health, and Postgres."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

import msgspec
import trio

from leasehold.cli.up.processes import MOST_DEATHS, OURSELVES, STABLE_SECONDS, ShowLine, jittered_delay
from leasehold.errors import LeaseholdError

LOOK_SECONDS = 10.0
POSTGRES_LOOK_SECONDS = 1.0
ANSWER_SECONDS = 3.0
MOST_MISSED = 3


class ChildHealth(msgspec.Struct, frozen=True):
    """What is known of one child. `answered`: this process of it was healthy once; `missed`: looks in a row since then."""

    pid: int | None = None
    answered: bool = False
    missed: int = 0

    @property
    def is_hung(self) -> bool:
        """Whether it is to be killed."""
        return self.missed >= MOST_MISSED

    def after(self, pid: int | None, *, answers: bool) -> ChildHealth:
        """After another look. A process that has never answered is still starting."""
        if pid != self.pid or pid is None:
            return ChildHealth(pid, answers)
        if answers:
            return ChildHealth(pid, True)
        return ChildHealth(pid, self.answered, self.missed + 1 if self.answered else 0)


class Children(Protocol):
    """Who keeps the children running."""

    def pid_of(self, name: str) -> int | None: ...

    def kill(self, name: str) -> None: ...


class HealthWatch:
    """Kills children that hang; whoever keeps them running starts them again.

    Args:
        ports: where each child answers probes, by its name.
        children: who keeps them running.
        show: gets a line for each that is killed.
        asks: whether the process at a port says that it lives.
    """

    def __init__(
        self,
        ports: Mapping[str, int],
        children: Children,
        show: ShowLine,
        asks: Callable[[int], Awaitable[bool]] | None = None,
    ) -> None:
        self._children = children
        self._show = show
        self._asks = asks or lives
        self._ports = ports
        self._known = dict.fromkeys(ports, ChildHealth())

    async def run(self) -> None:
        """Look every ten seconds, until cancelled."""
        while True:
            await trio.sleep(LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Ask all of them once."""
        async with trio.open_nursery() as nursery:
            for name in self._ports:
                nursery.start_soon(self._look_at, name)

    async def _look_at(self, name: str) -> None:
        pid = self._children.pid_of(name)
        answers = pid is not None and await self._asks(self._ports[name])
        health = self._known[name] = self._known[name].after(pid, answers=answers)
        if health.is_hung and self._children.pid_of(name) == pid:
            self._show("up", f"{name} has not answered its probe {MOST_MISSED} times in a row; killing it", "error")
            self._children.kill(name)


async def lives(port: int, host: str = "127.0.0.1") -> bool:
    """Whether `/livez` answers 200 within three seconds."""
    request = f"GET /livez HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"
    with trio.move_on_after(ANSWER_SECONDS):
        try:
            async with await trio.open_tcp_stream(host, port) as stream:
                await stream.send_all(request.encode())
                answer = b""
                while b"\r\n" not in answer and (more := await stream.receive_some(4096)):
                    answer += more
                return answer.split(b" ")[1:2] == [b"200"]
        except (OSError, trio.BrokenResourceError):
            return False
    return False


class Server(Protocol):
    """What is needed of embedded Postgres. Both block."""

    def is_running(self) -> bool: ...

    def revive(self) -> None: ...


async def keep_running(
    server: Server, show: ShowLine, give_up: Callable[[str, int], None], delay: Callable[[int], float] = jittered_delay
) -> None:
    """Start it again whenever it is gone; returns after `give_up` was called with what happened and how often.

    Goes on until cancelled, also while the other processes stop, because their jobs still need the database. If another
    process starts it first, that counts as our start.
    """
    deaths = 0
    started = trio.current_time()
    what = "embedded Postgres has died"
    while True:
        if await trio.to_thread.run_sync(server.is_running):
            await trio.sleep(POSTGRES_LOOK_SECONDS)
            continue
        deaths = 1 if trio.current_time() - started > STABLE_SECONDS else deaths + 1
        if deaths >= MOST_DEATHS:
            give_up(what, deaths)
            return
        seconds = delay(deaths)
        show(OURSELVES, f"{what}; starting it again in {seconds:.1f} s", "warning")
        await trio.sleep(seconds)
        try:
            await trio.to_thread.run_sync(server.revive)
        except (LeaseholdError, OSError) as error:
            what = "embedded Postgres does not start"
            for line in str(error).splitlines():
                show(OURSELVES, line, "error")
        else:
            what = "embedded Postgres has died"
            show(OURSELVES, "embedded Postgres runs again")
        started = trio.current_time()
