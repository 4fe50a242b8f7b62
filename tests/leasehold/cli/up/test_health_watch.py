from __future__ import annotations

from functools import partial

import trio

from leasehold.cli.up.watch import MOST_MISSED, ChildHealth, HealthWatch, lives
from tests.leasehold.cli.up.test_processes import Screen


class Pods:
    """Children that answer or not, as a test says."""

    def __init__(self) -> None:
        self.pids: dict[str, int | None] = {"worker.1": 11, "worker.2": 12}
        self.healthy = {8081: True, 8082: True}
        self.killed: list[str] = []
        self.screen = Screen()
        self.watch = HealthWatch({"worker.1": 8081, "worker.2": 8082}, self, self.screen.show, self.asks)

    def pid_of(self, name: str) -> int | None:
        return self.pids[name]

    def kill(self, name: str) -> None:
        self.killed.append(name)

    async def asks(self, port: int) -> bool:
        await trio.lowlevel.checkpoint()
        return self.healthy[port]

    async def look(self, times: int = 1) -> None:
        for _ in range(times):
            await self.watch.look()


async def test_one_that_was_healthy_and_hangs_is_killed_and_the_others_are_left_alone() -> None:
    pods = Pods()
    await pods.look()
    pods.healthy[8082] = False
    await pods.look(MOST_MISSED - 1)
    assert pods.killed == []
    await pods.look()
    assert pods.killed == ["worker.2"]
    assert pods.screen.lines == [("up", "worker.2 has not answered its probe 3 times in a row; killing it")]


async def test_a_look_that_is_answered_forgives_those_before() -> None:
    pods = Pods()
    await pods.look()
    for _ in range(3):
        pods.healthy[8081] = False
        await pods.look(MOST_MISSED - 1)
        pods.healthy[8081] = True
        await pods.look()
    assert pods.killed == []


async def test_one_that_is_starting_has_all_the_time_it_needs() -> None:
    pods = Pods()
    pods.healthy[8081] = False
    await pods.look(10)
    pods.healthy[8081] = True
    await pods.look()
    pods.healthy[8081] = False
    pods.pids["worker.1"] = 21  # it has died, and starts again
    await pods.look(10)
    pods.pids["worker.1"] = None
    await pods.look(10)
    assert pods.killed == []


def test_a_process_that_is_not_there_is_not_hung() -> None:
    assert not ChildHealth(7, True, MOST_MISSED - 1).after(None, answers=False).is_hung
    assert ChildHealth(7, True, MOST_MISSED - 1).after(7, answers=False).is_hung


async def test_only_200_counts_as_alive() -> None:
    answers = {b"HTTP/1.1 200 OK\r\n\r\n": True, b"HTTP/1.1 503 Unavailable\r\n\r\n": False, b"": False, b"200": False}
    for answer, expected in answers.items():

        async def serve(stream: trio.SocketStream, answer: bytes = answer) -> None:
            assert (await stream.receive_some(4096)).startswith(b"GET /livez HTTP/1.1\r\n")
            await stream.send_all(answer)
            await stream.aclose()

        async with trio.open_nursery() as nursery:
            [listener] = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
            port = listener.socket.getsockname()[1]
            assert await lives(port) is expected, answer
            nursery.cancel_scope.cancel()
    assert await lives(1) is False
