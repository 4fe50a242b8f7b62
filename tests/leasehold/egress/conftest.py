from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import AsyncExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.support.waiting import PATIENCE, until

Answer = tuple[int, dict[str, str]]


class Target:
    """A server that notes who asks, and answers as `decide` says by the User-Agent."""

    def __init__(self) -> None:
        self.url = ""
        self.decide: Callable[[str], Answer] = lambda _agent: (200, {})
        self.robots = ""
        self.seen: list[dict[str, str]] = []

    @property
    def agents(self) -> list[str]:
        """Who asked, in order."""
        return [each["User-Agent"] for each in self.seen]


@pytest.fixture
def target() -> Generator[Target]:
    """A real HTTP server on a free port."""
    made = Target()

    class Desk(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/robots.txt":
                self._answer(200 if made.robots else 404, {}, made.robots.encode())
                return
            made.seen.append(dict(self.headers.items()))
            self._answer(*made.decide(self.headers["User-Agent"]), b"hello")

        def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Desk) as server:
        server.daemon_threads = True
        made.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield made
        server.shutdown()
        thread.join()


@pytest.fixture
async def start_proxy(tmp_path: Path) -> AsyncGenerator[Callable[..., Awaitable[str]]]:
    """Starts a real forward proxy (proxy.py) on a free port; returns its URL."""
    async with AsyncExitStack() as stack:

        async def start(*flags: str) -> str:
            port_file = tmp_path / "port"
            stack.enter_context(_proxy(tmp_path, port_file, flags))
            await until(lambda: port_file.is_file() and port_file.read_text().strip().isdigit())
            return f"http://127.0.0.1:{port_file.read_text().strip()}"

        yield start


@contextmanager
def _proxy(folder: Path, port_file: Path, flags: Sequence[str]) -> Generator[None]:
    command: list[Any] = [
        sys.executable, "-m", "proxy", "--hostname", "127.0.0.1", "--port", "0", "--port-file", port_file,
        "--num-acceptors", "1", "--num-workers", "1", "--log-level", "ERROR", "--data-dir", folder / "data", *flags,
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)
