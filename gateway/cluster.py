"""Kubernetes, as the gateway's pod sees it: how many pods of workers there are, and asking for another number.

Start with `WorkerSet`. `Pod` is what Kubernetes gives a pod, `ask` sends one request to its API server, and `refusal_of`
says what its answer means to our caller.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec
from aiohttp import ClientError, ClientResponse, ClientSession, ClientSSLError, ClientTimeout, TCPConnector

from leasehold.gateway.http.problems import (
    KUBERNETES_REFUSED,
    KUBERNETES_TIMEOUT,
    KUBERNETES_UNAVAILABLE,
    KUBERNETES_UNREADABLE,
    KUBERNETES_UNTRUSTED,
    NOT_IN_KUBERNETES,
    UNKNOWN_STATEFULSET,
    Refusal,
    refuse_field,
)
from leasehold.settings import Settings

LONGEST_REASON = 300
RIGHTS = "the service account of the gateway's pod needs the verbs get and patch on"


class ClusterStatus(msgspec.Struct, frozen=True):
    """The part of a `Status` of Kubernetes that is for people."""

    message: str | None = None


def refusal_of(status: int, body: bytes, what: str) -> Refusal:
    """The refusal for an answer that is no success, with a `Status` of Kubernetes or the words of a proxy in between. `what` was
    asked for."""
    try:
        explanation = msgspec.json.decode(body, type=ClusterStatus).message
    except msgspec.DecodeError:
        explanation = None
    reason = " ".join((explanation or body.decode("utf-8", "replace")).split())[:LONGEST_REASON] or "nothing more"
    problem = f"Kubernetes answered {status}: {reason}"
    if status == 404:
        return Refusal(UNKNOWN_STATEFULSET, f"there is no {what}; {problem}")
    if status == 429 or status >= 500:
        return Refusal(KUBERNETES_UNAVAILABLE, problem)
    if status in (401, 403):
        return Refusal(KUBERNETES_REFUSED, f"{RIGHTS} {what}; {problem}")
    return Refusal(KUBERNETES_REFUSED, problem)


log = logging.getLogger(__name__)

SECONDS = 10.0
LARGEST_ANSWER = 1 << 20


async def ask(pod: Pod, path: str, what: str, patch: object = None) -> bytes:
    """The body of the answer to GET, or to PATCH with a JSON merge patch. `what` is the object in words, for refusals.

    Raises:
        Refusal: there is no token here, or the API server cannot be reached, is not trusted, is too slow or refuses.
    """
    method = "GET" if patch is None else "PATCH"
    trust = pod.trust()
    headers = {"Authorization": f"Bearer {pod.token()}", "Accept": "application/json"}
    body = None
    if patch is not None:
        body, headers["Content-Type"] = msgspec.json.encode(patch), "application/merge-patch+json"
    try:
        async with (
            ClientSession(connector=TCPConnector(ssl=trust), timeout=ClientTimeout(total=SECONDS)) as session,
            # A redirect would take the token to somebody else.
            session.request(method, pod.url + path, data=body, headers=headers, allow_redirects=False) as response,
        ):
            status, answer = response.status, await _read(response)
    except (ClientError, OSError) as error:
        refusal = _unreached(pod, error, is_change=patch is not None)
        log.warning("%s %s: %s", method, path, refusal)
        raise refusal from error
    if status == 200:
        return answer
    refusal = refusal_of(status, answer, what)
    log.warning("%s %s: %s", method, path, refusal)
    raise refusal


async def _read(response: ClientResponse) -> bytes:
    """The whole body; its beginning, where it is larger than any answer that we know."""
    found = bytearray()
    async for chunk in response.content.iter_chunked(65_536):
        found += chunk
        if len(found) > LARGEST_ANSWER:
            break
    return bytes(found[:LARGEST_ANSWER])


def _unreached(pod: Pod, error: BaseException, *, is_change: bool) -> Refusal:
    if isinstance(error, TimeoutError):
        doubt = "; it may have done so all the same: ask for the replicas" if is_change else ""
        return Refusal(KUBERNETES_TIMEOUT, f"{pod.url} has not answered within {SECONDS:g} s{doubt}")
    if isinstance(error, ClientSSLError | ssl.SSLError):
        return Refusal(KUBERNETES_UNTRUSTED, f"{pod.url} is not who {pod.folder / 'ca.crt'} vouches for: {error}")
    return Refusal(KUBERNETES_UNAVAILABLE, f"{pod.url} cannot be reached: {error or type(error).__name__}")


FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
HOST, PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"


class Pod(msgspec.Struct, frozen=True):
    """A pod's way to the API server. The files change while the pod runs, so each request reads them anew."""

    url: str
    folder: Path = FOLDER

    def token(self) -> str:
        """The present token of the service account. Raises Refusal."""
        return self._read("token")

    def namespace(self) -> str:
        """The namespace that the pod runs in. Raises Refusal."""
        return self._read("namespace")

    def trust(self) -> ssl.SSLContext:
        """Trusts who the cluster's own authority has signed, and nobody else. Raises Refusal."""
        try:
            context = ssl.create_default_context(cadata=self._read("ca.crt"))
        except ssl.SSLError as error:
            raise Refusal(NOT_IN_KUBERNETES, f"{self.folder / 'ca.crt'} holds no certificate") from error
        # Authorities of older clusters lack the key identifiers that Python asks for from 3.13 on.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context

    def _read(self, name: str) -> str:
        try:
            text = (self.folder / name).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise _unmounted(self.folder / name) from error
        if not text:
            raise _unmounted(self.folder / name)
        return text


def pod_of(environ: Mapping[str, str]) -> Pod | None:
    """The pod that this process runs in; None outside Kubernetes."""
    host, port = environ.get(HOST), environ.get(PORT) or "443"
    if not host:
        return None
    return Pod(f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}")


def _unmounted(path: Path) -> Refusal:
    return Refusal(
        NOT_IN_KUBERNETES,
        f"the gateway's pod has no {path}: give it a service account, and automountServiceAccountToken: true",
    )


SETTING = "LEASEHOLD_K8S_WORKER_STATEFULSET"


class ReplicaCount(msgspec.Struct, frozen=True):
    """`spec` or `status` of a Scale. Kubernetes leaves a number out where it is 0."""

    replicas: int = 0


class Scale(msgspec.Struct, frozen=True, rename={"api_version": "apiVersion"}):
    """What is needed of `autoscaling/v1 Scale`."""

    api_version: Literal["autoscaling/v1"]
    kind: Literal["Scale"]
    spec: ReplicaCount = ReplicaCount()
    status: ReplicaCount = ReplicaCount()


class WorkerSet:
    """The StatefulSet that the settings name, with its namespace and how many pods anybody may ask for. `pod` is the gateway's
    own; None outside Kubernetes."""

    def __init__(self, settings: Settings, pod: Pod | None) -> None:
        self._settings = settings
        self._pod = pod

    @property
    def can_scale(self) -> bool:
        """Whether the gateway runs in Kubernetes and knows which StatefulSet the workers are."""
        return self._pod is not None and self._settings.k8s_worker_statefulset is not None

    @property
    def bounds(self) -> tuple[int, int]:
        """The fewest and the most pods that anybody may ask for."""
        return self._settings.k8s_min_replicas, self._settings.k8s_max_replicas

    async def read(self) -> tuple[str, str, Scale]:
        """Its namespace, its name and its scale. Raises Refusal."""
        return await self._ask()

    async def scale(self, replicas: int) -> tuple[str, str, Scale]:
        """Ask for this many pods; answers as `read` does, as soon as Kubernetes has written it down. Raises Refusal."""
        fewest, most = self.bounds
        if not fewest <= replicas <= most:
            raise refuse_field(
                "$.replicas", f"the settings of the gateway allow {fewest} to {most} pods, not {replicas}"
            )
        namespace, name, scale = await self._ask({"spec": {"replicas": replicas}})
        log.info("%s in the namespace %s is to have %d pods", name, namespace, scale.spec.replicas)
        return namespace, name, scale

    async def _ask(self, patch: object = None) -> tuple[str, str, Scale]:
        pod, name = self._pod, self._settings.k8s_worker_statefulset
        if pod is None:
            raise Refusal(NOT_IN_KUBERNETES, "this gateway does not run in Kubernetes, so there are no pods to count")
        if name is None:
            raise Refusal(NOT_IN_KUBERNETES, f"{SETTING} does not say which StatefulSet the workers are")
        namespace = self._settings.k8s_namespace or pod.namespace()
        path = f"/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}/scale"
        answer = await ask(pod, path, f"statefulsets/scale {name} in the namespace {namespace}", patch)
        try:
            return namespace, name, msgspec.json.decode(answer, type=Scale)
        except msgspec.DecodeError as error:
            log.warning("%s %s: %s: %s", "GET" if patch is None else "PATCH", path, error, answer[:200])
            raise Refusal(KUBERNETES_UNREADABLE, f"what {pod.url} answers is no Scale: {error}") from error
