"""`/api/workers/k8s/…`: how many pods of workers Kubernetes has."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from leasehold.gateway.access.identities import Scope
from leasehold.gateway.cluster import Scale, WorkerSet
from leasehold.gateway.http.problems import KUBERNETES_ERRORS
from leasehold.gateway.routing.routes import Call, NoParameters, Routes


class ScaleBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many pods of workers there are to be."""

    replicas: Annotated[
        int, Meta(ge=0, le=10_000, description="Between the fewest and the most that the gateway's settings allow.")
    ]


class ReplicasBody(msgspec.Struct, frozen=True, kw_only=True):
    """The pods of the workers' StatefulSet."""

    namespace: str
    statefulset: str
    current: Annotated[int, Meta(description="Pods that Kubernetes has made, whether their workers are ready or not.")]
    desired: Annotated[int, Meta(description="Pods that there are to be.")]
    min_replicas: Annotated[int, Meta(description="The fewest that may be asked for here.")]
    max_replicas: Annotated[int, Meta(description="The most that may be asked for here.")]


routes = Routes("workers")


@routes(
    "GET",
    "/api/workers/k8s/replicas",
    "Show how many pods of workers Kubernetes has",
    errors=KUBERNETES_ERRORS,
    scope=Scope.READ,
)
async def show_replicas(call: Call[NoParameters, None]) -> ReplicasBody:
    """How many pods of workers Kubernetes has, and how many it is to have. `GET /api/workers` has the workers in them."""
    return _body(call.services.worker_set, *await call.services.worker_set.read())


@routes(
    "POST",
    "/api/workers/k8s/scale",
    "Set how many pods of workers there are to be",
    example={"replicas": 10},
    errors=KUBERNETES_ERRORS,
    scope=Scope.ADMIN,
)
async def scale_workers(call: Call[NoParameters, ScaleBody]) -> ReplicasBody:
    """Sets how many pods of workers there are to be. Kubernetes then makes or ends pods; ask for the replicas to see how far
    it is. Pods that end let their running jobs finish.

    Where an autoscaler such as KEDA sets the number, it sets it again some seconds later: change the autoscaler instead.
    """
    return _body(call.services.worker_set, *await call.services.worker_set.scale(call.body.replicas))


def _body(workers: WorkerSet, namespace: str, name: str, scale: Scale) -> ReplicasBody:
    fewest, most = workers.bounds
    return ReplicasBody(
        namespace=namespace,
        statefulset=name,
        current=scale.status.replicas,
        desired=scale.spec.replicas,
        min_replicas=fewest,
        max_replicas=most,
    )
