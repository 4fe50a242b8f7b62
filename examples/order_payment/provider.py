"""A payment provider that fails often. Its only help is that it is idempotent by token.

It runs in threads of the example, so the example can read its ledger.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

import msgspec

from .payment import PATIENCE_SECONDS, Charge, Receipt

Fate = Literal["answers", "refuses", "takes the money and hangs up", "takes the money and answers too late"]
FATES: tuple[Fate, ...] = (
    "answers",
    "refuses",
    "takes the money and hangs up",
    "takes the money and answers too late",
)


class Provider:
    """The first call for each token gets the next of the `FATES`; later calls are answered."""

    def __init__(self) -> None:
        self.url = ""
        self.ledger: dict[str, int] = {}
        self.calls: Counter[str] = Counter()
        self.fates: Counter[Fate] = Counter()
        self._held: dict[str, Hold] = {}
        self._lock = threading.Lock()
        self.closing = threading.Event()

    def hold(self, token: str) -> Hold:
        """From now on, take the money for this token but hold the answer back, until the hold is released."""
        return self._held.setdefault(token, Hold())

    def meet(self, charge: Charge) -> Fate:
        """Take the money or not, and return how the call ends."""
        with self._lock:
            self.calls[charge.token] += 1
            is_first = self.calls[charge.token] == 1
            held = self._held.get(charge.token)
            fate = FATES[len(self.calls) % len(FATES)] if is_first and held is None else "answers"
            self.fates[fate] += 1
            if fate != "refuses":
                self.ledger.setdefault(charge.token, charge.cents)
        if held is not None:
            held.reached.set()
            held.free.wait()
        return fate


class Hold:
    """A held answer. `reached`: a call is waiting. `free`: answer it now."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.free = threading.Event()


@contextmanager
def open_provider() -> Generator[Provider]:
    """Run a provider that listens at `provider.url`."""
    provider = Provider()

    class Desk(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            charge = msgspec.json.decode(body, type=Charge)
            fate = provider.meet(charge)
            if fate == "takes the money and hangs up":
                return
            if fate == "takes the money and answers too late":
                provider.closing.wait(PATIENCE_SECONDS + 0.5)
            answer = msgspec.json.encode(Receipt(f"receipt-{charge.token}", charge.cents))
            self._answer(503 if fate == "refuses" else 200, answer)

        def _answer(self, status: int, body: bytes) -> None:
            try:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                pass  # whoever asked is gone

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Desk) as server:
        server.daemon_threads = True
        provider.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield provider
        finally:
            provider.closing.set()
            server.shutdown()
            thread.join()
