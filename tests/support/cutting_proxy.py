"""A TCP proxy that cuts what goes through it: a network that goes away in the middle."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress


class CuttingProxy:
    """Passes bytes on to `target`. `limit`: after so many bytes of one connection from the client it cuts for ever."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.limit: int | None = None
        self.connections = 0
        self._target = target
        self._is_cut = False
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = self._listener.getsockname()
        return f"http://{host}:{port}"

    def cut(self) -> None:
        """End all connections that are open."""
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Cut, and take no more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self._is_cut:
                    client.close()
                    continue
                self.connections += 1
                server = socket.create_connection(self._target)
                self._open |= {client, server}
                threading.Thread(target=self._pass, args=(client, server, True), daemon=True).start()
                threading.Thread(target=self._pass, args=(server, client, False), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, is_request: bool) -> None:
        passed = 0
        with suppress(OSError):
            while data := source.recv(1 << 16):
                passed += len(data)
                if is_request and self.limit is not None and passed > self.limit:
                    self._is_cut = True
                    break
                sink.sendall(data)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._open -= {source, sink}


@contextmanager
def cutting_proxy(url: str) -> Generator[CuttingProxy]:
    """A proxy in front of this http address."""
    host, _, port = url.removeprefix("http://").partition(":")
    proxy = CuttingProxy((host, int(port)))
    try:
        yield proxy
    finally:
        proxy.close()
