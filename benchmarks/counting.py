"""A proxy before Postgres that writes down each statement that comes through it."""

from __future__ import annotations

import socket
import socketserver
import struct
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, urlsplit

NOT_YET = {80877103, 80877104}  # requests for SSL and GSS: the start-up comes after the answer


class Counted:
    """What came through. `dsn` leads through the proxy; `host` and `port` are where it listens."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        options = parse_qs(parts.query)
        self.folder = options.get("host", [""])[0]
        self.target_host = parts.hostname or "127.0.0.1"
        self.target_port = int(options.get("port", [str(parts.port or 5432)])[0])
        self.user = options.get("user", [parts.username or "postgres"])[0]
        self.password = parts.password or ""
        self.database = parts.path.lstrip("/")
        self.host = "127.0.0.1"
        self.port = 0
        self.statements: list[str] = []

    @property
    def dsn(self) -> str:
        """Through the proxy, over TCP."""
        password = f":{self.password}" if self.password else ""
        return f"postgresql://{self.user}{password}@{self.host}:{self.port}/{self.database}"

    def connect(self) -> socket.socket:
        """To Postgres itself."""
        if self.folder.startswith("/"):
            made = socket.socket(socket.AF_UNIX)
            made.connect(f"{self.folder}/.s.PGSQL.{self.target_port}")
            return made
        return socket.create_connection((self.target_host, self.target_port))


class Requests:
    """What one connection says: statements are written down when they are executed, not when they are prepared."""

    def __init__(self, statements: list[str]) -> None:
        self._statements = statements
        self._rest = b""
        self._started = False
        self._prepared: dict[bytes, str] = {}
        self._portals: dict[bytes, str] = {}

    def feed(self, chunk: bytes) -> None:
        """Read what was said."""
        self._rest += chunk
        while (message := self._next()) is not None:
            self._read(*message)

    def _next(self) -> tuple[bytes, bytes] | None:
        start = 1 if self._started else 0
        if len(self._rest) < start + 4:
            return None
        length = struct.unpack_from("!I", self._rest, start)[0] + start
        if len(self._rest) < length:
            return None
        message, self._rest = self._rest[:length], self._rest[length:]
        return message[:start], message[start + 4 :]

    def _read(self, kind: bytes, body: bytes) -> None:
        if not self._started:
            self._started = struct.unpack_from("!I", body)[0] not in NOT_YET
        elif kind == b"Q":
            self._statements.append(body[:-1].decode())
        elif kind == b"P":
            name, text, _ = body.split(b"\x00", 2)
            self._prepared[name] = text.decode()
        elif kind == b"B":
            portal, name, _ = body.split(b"\x00", 2)
            self._portals[portal] = self._prepared[name]
        elif kind == b"E":
            self._statements.append(self._portals[body.split(b"\x00", 1)[0]])


@contextmanager
def counting(dsn: str) -> Generator[Counted]:
    """Such a proxy before the Postgres that `dsn` means, in threads of its own."""
    counted = Counted(dsn)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with counted.connect() as server:
                requests = Requests(counted.statements)
                answers = threading.Thread(target=_pump, args=(server, self.request, None))
                answers.start()
                _pump(self.request, server, requests)
                answers.join()

    class Threads(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Threads((counted.host, 0), Handler) as proxy:
        counted.port = proxy.server_address[1]
        thread = threading.Thread(target=proxy.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield counted
        finally:
            proxy.shutdown()
            thread.join()


def _pump(source: socket.socket, sink: socket.socket, requests: Requests | None) -> None:
    """Until the source ends; statements are written down before they are forwarded."""
    with suppress(OSError):
        while chunk := source.recv(65536):
            if requests is not None:
                requests.feed(chunk)
            sink.sendall(chunk)
    for each in (source, sink):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
