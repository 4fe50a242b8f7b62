"""The probes of processes without a web server of their own: alive, ready, started; and their metrics.

The HTTP server is the standard library's, in its own threads. It uses neither aiohttp nor the process's event loop: a probe must
answer while a handler blocks that loop, and say so. One thread accepts connections, and one thread answers each request, at most
sixteen at once. They wait for the socket only.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, cast

import msgspec

from leasehold.concurrency.ending import close_in_copies
from leasehold.errors import SettingsError
from leasehold.observability.health import Health, Question, Verdict
from leasehold.observability.metrics import MetricsMissing

log = logging.getLogger(__name__)

MOST_AT_ONCE = 16
PATIENCE_SECONDS = 5.0
JSON = "application/json"
PROBLEM = "application/problem+json"
QUESTIONS: dict[str, tuple[Question, str, str]] = {
    "/livez": ("livez", "not_alive", "The process is stuck"),
    "/readyz": ("readyz", "not_ready", "Not ready to serve"),
    "/startupz": ("startupz", "not_started", "Not started yet"),
}

METRICS = "/metrics"
ADDRESSES = frozenset({*QUESTIONS, METRICS})
NOT_IMPLEMENTED = 501
NO_HEADERS: Mapping[str, str] = MappingProxyType({})

Expose = Callable[[str], tuple[bytes, str]]


@contextmanager
def open_probes(host: str, port: int, health: Health, expose: Expose) -> Generator[str]:
    """Serve `/livez`, `/readyz`, `/startupz` and `/metrics` while the block lasts; yields the URL.

    Args:
        host, port: to bind; 0 picks a free port.
        health: what the probes answer.
        expose: gives the text of the metrics and its content type for an Accept header; may raise MetricsMissing.

    Raises:
        SettingsError: the address cannot be bound.
    """
    try:
        server = _Server(host, port, health, expose)
    except OSError as error:
        raise SettingsError(
            f"the probes cannot listen on {host}:{port} ({error.strerror or error}); choose another --probe-port"
        ) from error
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.2}, name="probes", daemon=True)
    thread.start()
    try:
        bound, number = server.server_address[:2]
        name = str(bound)
        yield f"http://[{name}]:{number}" if ":" in name else f"http://{name}:{number}"
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, host: str, port: int, health: Health, expose: Expose) -> None:
        self.health = health
        self.expose = expose
        self._places = threading.BoundedSemaphore(MOST_AT_ONCE)
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), _Answer)
        close_in_copies(self.socket)

    def server_bind(self) -> None:
        """Bind as HTTPServer does, but do not ask a name server for the name of the host."""
        super(HTTPServer, self).server_bind()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a new thread; close the connection where sixteen are being answered already."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer the request, then let another one in."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Log it for debugging only: what strangers send is no fault of this process."""
        log.debug("a probe went wrong", exc_info=True)


class _Answer(BaseHTTPRequestHandler):
    timeout = PATIENCE_SECONDS

    def version_string(self) -> str:
        """The name in the header `Server`: leasehold's, not Python's."""
        return "leasehold"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: probes come all the time."""

    def do_GET(self) -> None:
        """Answer one probe, or the metrics."""
        path, _, query = self.path.partition("?")
        server = cast("_Server", self.server)
        if path in QUESTIONS:
            question, code, title = QUESTIONS[path]
            self._answer_question(server.health.ask(question), code, title, verbose="verbose" in query)
        elif path == METRICS:
            self._answer_metrics(server.expose)
        else:
            self._refuse_address()

    do_HEAD = do_GET  # noqa: N815

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer what the library refuses: other methods (as 501, at any address), and text that is no HTTP."""
        if code != NOT_IMPLEMENTED:
            self._say(code, _problem(code, "malformed_request", "The request is not valid HTTP", []), PROBLEM)
        elif self.path.partition("?")[0] in ADDRESSES:
            problem = _problem(405, "method_not_allowed", "This address does not take this method", [])
            self._say(405, problem, PROBLEM, {"Allow": "GET, HEAD"})
        else:
            self._refuse_address()

    def _refuse_address(self) -> None:
        self._say(404, _problem(404, "not_found", "There is nothing at this address", []), PROBLEM)

    def _answer_question(self, verdicts: Any, code: str, title: str, *, verbose: bool) -> None:
        wrong = [verdict for verdict in verdicts if verdict.problem is not None]
        if wrong:
            self._say(503, _problem(503, code, title, wrong), PROBLEM)
            return
        shown = {"status": "ok", "checks": [verdict.name for verdict in verdicts]} if verbose else {"status": "ok"}
        self._say(200, msgspec.json.encode(shown), JSON)

    def _answer_metrics(self, expose: Expose) -> None:
        try:
            text, content_type = expose(self.headers.get("Accept", ""))
        except MetricsMissing as error:
            self._say(404, _problem(404, "metrics_missing", str(error), []), PROBLEM)
            return
        except Exception:
            log.exception("the metrics could not be told")
            self._say(500, _problem(500, "internal", "Something went wrong here", []), PROBLEM)
            return
        self._say(200, text, content_type)

    def _say(self, status: int, body: bytes, content_type: str, more: Mapping[str, str] = NO_HEADERS) -> None:
        self.send_response(status)
        for name, value in more.items():
            self.send_header(name, value)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _problem(status: int, code: str, title: str, wrong: list[Verdict]) -> bytes:
    """The body of an error, in the format of the gateway's errors."""
    errors = [{"path": verdict.name, "message": verdict.problem} for verdict in wrong]
    detail = f"Not well: {', '.join(verdict.name for verdict in wrong)}." if wrong else title
    kind = f"urn:leasehold:problem:{code}"
    return msgspec.json.encode(
        {"type": kind, "title": title, "status": status, "code": code, "detail": detail, "errors": errors}
    )
