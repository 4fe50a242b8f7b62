"""The StatefulSet of the workers: how many pods it has, and asking for another number.

Only its subresource `scale` is read and written, which holds nothing but numbers. Who may patch the StatefulSet itself may run
any program in its pods, and so read their secrets.
"""

from __future__ import annotations

import logging
from typing import Literal

import msgspec

from leasehold.gateway.cluster.api_server import SECONDS, ask
from leasehold.gateway.cluster.pod import Pod
from leasehold.gateway.http.problems import KUBERNETES_UNREADABLE, NOT_IN_KUBERNETES, Refusal, refuse_field
from leasehold.settings import Settings

log = logging.getLogger(__name__)

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
    """The StatefulSet that the settings name.

    Args:
        settings: with its name, its namespace and how many pods anybody may ask for.
        pod: the gateway's own; None outside Kubernetes.
        seconds: how long Kubernetes may take for an answer.
    """

    def __init__(self, settings: Settings, pod: Pod | None, *, seconds: float = SECONDS) -> None:
        self._settings = settings
        self._pod = pod
        self._seconds = seconds

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
        return await self._ask("GET")

    async def scale(self, replicas: int) -> tuple[str, str, Scale]:
        """Ask for this many pods; answers as `read` does, as soon as Kubernetes has written it down. Raises Refusal."""
        fewest, most = self.bounds
        if not fewest <= replicas <= most:
            raise refuse_field(
                "$.replicas", f"the settings of the gateway allow {fewest} to {most} pods, not {replicas}"
            )
        namespace, name, scale = await self._ask("PATCH", {"spec": {"replicas": replicas}})
        log.info("%s in the namespace %s is to have %d pods", name, namespace, scale.spec.replicas)
        return namespace, name, scale

    async def _ask(self, method: Literal["GET", "PATCH"], patch: object = None) -> tuple[str, str, Scale]:
        pod, name = self._where()
        namespace = self._settings.k8s_namespace or pod.namespace()
        path = f"/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}/scale"
        what = f"statefulsets/scale {name} in the namespace {namespace}"
        answer = await ask(pod, method, path, what, patch, seconds=self._seconds)
        try:
            return namespace, name, msgspec.json.decode(answer, type=Scale)
        except msgspec.DecodeError as error:
            log.warning("%s %s: %s: %s", method, path, error, answer[:200])
            raise Refusal(KUBERNETES_UNREADABLE, f"what {pod.url} answers is no Scale: {error}") from error

    def _where(self) -> tuple[Pod, str]:
        name = self._settings.k8s_worker_statefulset
        if self._pod is None:
            raise Refusal(NOT_IN_KUBERNETES, "this gateway does not run in Kubernetes, so there are no pods to count")
        if name is None:
            raise Refusal(NOT_IN_KUBERNETES, f"{SETTING} does not say which StatefulSet the workers are")
        return self._pod, name
