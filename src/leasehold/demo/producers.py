"""How jobs come in: over HTTP as any program would, and by plain SQL as from psql."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Mapping
from typing import Any

import msgspec
import trio

from leasehold.demo.failure import DemoFailed

ANSWER_SECONDS = 10.0
PAUSE_SECONDS = 0.01


class Answer(msgspec.Struct):
    """Of what the gateway answers, the part that matters here."""

    id: int
    state: str | None = None


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

    async def enqueue(self, job: Mapping[str, Any]) -> int:
        """POST a job; returns its id. Raises DemoFailed."""
        return (await trio.to_thread.run_sync(self._enqueue, job, 1))[0]

    async def enqueue_in_turn(self, job: Mapping[str, Any], times: int) -> list[int]:
        """POST it this many times, each after the last answer; returns the ids. Raises DemoFailed."""
        return await trio.to_thread.run_sync(self._enqueue, job, times)

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", "/readyz", headers=self._headers)
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def _enqueue(self, job: Mapping[str, Any], times: int) -> list[int]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_SECONDS)
        body = msgspec.json.encode(job)
        ids: list[int] = []
        try:
            for _ in range(times):
                if ids:
                    self._await_end(connection, ids[-1])
                ids.append(self._ask(connection, "POST", "/api/jobs", body).id)
        except (OSError, http.client.HTTPException) as error:
            raise DemoFailed(f"the gateway at {self.url} does not answer: {error!r}") from error
        finally:
            connection.close()
        return ids

    def _await_end(self, connection: http.client.HTTPConnection, job_id: int) -> None:
        deadline = time.monotonic() + ANSWER_SECONDS
        while self._ask(connection, "GET", f"/api/jobs/{job_id}").state != "completed":
            if time.monotonic() > deadline:
                raise DemoFailed(f"job {job_id} was not completed within {ANSWER_SECONDS:g} s")
            trio.from_thread.check_cancelled()
            time.sleep(PAUSE_SECONDS)

    def _ask(self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None = None) -> Answer:
        connection.request(method, path, body, self._headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status >= 300:
            raise DemoFailed(f"the gateway answers {method} {path} with {response.status}: {answer!r}")
        return msgspec.json.decode(answer, type=Answer)


def free_port() -> int:
    """A port of the loopback interface that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
