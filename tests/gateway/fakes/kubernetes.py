"""An API server of Kubernetes with one StatefulSet: real TLS, and requests held against the published types.

What a request leads to is checked with Kubernetes' own schemas (package kubernetes-validate), those of the oldest version that is
still looked after and of the newest.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import kubernetes_validate
from aiohttp import web

from leasehold.gateway.cluster import Pod
from tests.gateway.fakes.certificates import Authority
from tests.gateway.fakes.running import run
from tests.support.waiting import PATIENCE

T = TypeVar("T")

VERSIONS = ("1.33", "1.37")
PATH = "/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}/scale"
TOKEN = "token-of-the-service-account"
NAMESPACE, NAME = "shop", "leasehold-worker"


class FakeKubernetes:
    """Answers as long as `running_kubernetes` lasts.

    Attributes:
        url: where it is.
        desired: pods that there are to be; `current`: pods that there are.
        token: the one that it knows.
        verbs: what the service account may do with the scale of the StatefulSet.
        refusing: a status and a body that it answers with whatever is asked.
        is_silent: it takes requests and answers none.
        asked: method and path of each request.
    """

    def __init__(self) -> None:
        self.url = ""
        self.desired, self.current = 3, 3
        self.token = TOKEN
        self.verbs = {"get", "patch"}
        self.refusing: tuple[int, bytes, dict[str, str]] | None = None
        self.is_silent = False
        self.asked: list[str] = []
        self.ended = asyncio.Event()

    async def answer(self, request: web.Request) -> web.Response:
        """Whatever is asked."""
        self.asked.append(f"{request.method} {request.path}")
        if self.is_silent:
            await asyncio.Event().wait()  # until whoever asked hangs up
        if self.refusing is not None:
            status, body, headers = self.refusing
            return web.Response(status=status, body=body, headers=headers)
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return _status(401, "Unauthorized", "Unauthorized")
        if request.path != PATH.format(namespace=NAMESPACE, name=NAME):
            return _status(404, "NotFound", f'"{request.path}" not found')
        if request.method.lower() not in self.verbs:
            return _status(403, "Forbidden", f'User "leasehold-gateway" cannot {request.method.lower()} "scale"')
        return await getattr(self, f"_{request.method.lower()}")(request)

    async def _get(self, _request: web.Request) -> web.Response:
        return web.json_response(self._scale())

    async def _patch(self, request: web.Request) -> web.Response:
        if request.content_type != "application/merge-patch+json":
            return _status(415, "UnsupportedMediaType", f"no patch is of the type {request.content_type}")
        patch = await request.json()
        assert set(patch) == {"spec"}, patch
        changed = self._scale()
        changed["spec"] |= patch["spec"]
        self.desired = checked(changed)["spec"]["replicas"]
        return web.json_response(self._scale())

    def _scale(self) -> dict[str, Any]:
        scale: dict[str, Any] = {
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": {"name": NAME, "namespace": NAMESPACE, "resourceVersion": "7"},
            # Kubernetes leaves a number of 0 out here, and not there.
            "spec": {"replicas": self.desired} if self.desired else {},
            "status": {"replicas": self.current, "selector": "app.kubernetes.io/component=worker"},
        }
        return checked(scale)


def checked(manifest: dict[str, Any]) -> dict[str, Any]:
    """The same, if it is what Kubernetes says that such an object is."""
    for version in VERSIONS:
        kubernetes_validate.validate(manifest, version, strict=True)
    return manifest


def _status(code: int, reason: str, message: str) -> web.Response:
    told: dict[str, Any] = {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "code": code}
    return web.json_response({**told, "reason": reason, "message": message}, status=code)


@contextmanager
def running_kubernetes(folder: Path, address: str = "127.0.0.1") -> Generator[tuple[FakeKubernetes, Pod]]:
    """The API server, with a certificate for this address, and a pod that has what Kubernetes gives to pods."""
    authority, cluster = Authority(), FakeKubernetes()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(authority.issue(address, folder))
    ready = threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", cluster.answer)
        runner = web.AppRunner(application, access_log=None, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        cluster.url = f"https://127.0.0.1:{runner.addresses[0][1]}"
        loops.append(asyncio.get_running_loop())
        ready.set()
        await cluster.ended.wait()
        async with asyncio.timeout(PATIENCE):
            while runner.server is not None and runner.server.connections:  # noqa: ASYNC110  it has no event
                await asyncio.sleep(0.001)  # whoever asked hangs up
        await runner.cleanup()

    thread = threading.Thread(target=lambda: run(serve()), name="kubernetes")
    thread.start()
    assert ready.wait(PATIENCE)
    for name, text in {"token": TOKEN, "namespace": NAMESPACE, "ca.crt": authority.certificate.decode()}.items():
        (folder / name).write_text(text + "\n")
    try:
        yield cluster, Pod(cluster.url, folder)
    finally:
        loops[0].call_soon_threadsafe(cluster.ended.set)
        thread.join(PATIENCE)
        assert not thread.is_alive()


def run_until_closed(work: Coroutine[Any, Any, T]) -> T:
    """`run`, and then the loop goes on until all connections are closed: a gateway's would."""

    async def main() -> T:
        try:
            return await work
        finally:
            loop: Any = asyncio.get_running_loop()
            async with asyncio.timeout(PATIENCE):
                while len(loop._selector.get_map()) > 1:  # noqa: ASYNC110  asyncio tells nobody; one is the loop's own
                    await asyncio.sleep(0.001)

    return run(main())
