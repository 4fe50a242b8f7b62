"""How jobs come in: over HTTP as any program would, and by plain SQL as from psql."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import trio

from leasehold.demo.failure import DemoFailed

ANSWER_SECONDS = 10.0


class Enqueued(msgspec.Struct):
    """What the gateway answers."""

    id: int


class HttpProducer:
    """Talks to the gateway. Blocking calls run in a thread."""

    def __init__(self, port: int, token: str | None) -> None:
        self._port = port
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self.url = f"http://127.0.0.1:{port}/api/jobs"

    async def is_ready(self) -> bool:
        """Whether `/readyz` says so."""
        return await trio.to_thread.run_sync(self._is_ready)

    async def enqueue(self, jobs: Sequence[Mapping[str, Any]]) -> list[int]:
        """POST one job after the other over one connection; returns their ids. Raises DemoFailed."""
        return await trio.to_thread.run_sync(self._enqueue, jobs)

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", "/readyz", headers=self._headers)
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def _enqueue(self, jobs: Sequence[Mapping[str, Any]]) -> list[int]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_SECONDS)
        try:
            return [self._post(connection, msgspec.json.encode(job)) for job in jobs]
        except (OSError, http.client.HTTPException) as error:
            raise DemoFailed(f"the gateway at {self.url} does not answer: {error!r}") from error
        finally:
            connection.close()

    def _post(self, connection: http.client.HTTPConnection, body: bytes) -> int:
        connection.request("POST", "/api/jobs", body, self._headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status >= 300:
            raise DemoFailed(
                f"the gateway refused {body.decode()}: {response.status} {answer.decode(errors='replace')}"
            )
        return msgspec.json.decode(answer, type=Enqueued).id


def free_port() -> int:
    """A port of the loopback interface that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
