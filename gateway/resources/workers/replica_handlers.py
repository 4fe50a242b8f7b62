"""The handlers of `/api/workers/k8s/…`."""

from __future__ import annotations

from leasehold.gateway.cluster.worker_set import Scale, WorkerSet
from leasehold.gateway.http.problems import NOT_IN_KUBERNETES, Refusal
from leasehold.gateway.resources.workers.replica_bodies import ReplicasBody, ScaleBody
from leasehold.gateway.routing.routes import Call, NoParameters
from leasehold.gateway.routing.services import GatewayServices


async def show_replicas(call: Call[NoParameters, None]) -> ReplicasBody:
    """How many pods of workers Kubernetes has, and how many it is to have. `GET /api/workers` has the workers in them."""
    workers = _workers_of(call.services)
    return _body(workers, *await workers.read())


async def scale_workers(call: Call[NoParameters, ScaleBody]) -> ReplicasBody:
    """Sets how many pods of workers there are to be. Kubernetes then makes or ends pods; ask for the replicas to see how far
    it is. Pods that end let their running jobs finish.

    Where an autoscaler such as KEDA sets the number, it sets it again some seconds later: change the autoscaler instead.
    """
    workers = _workers_of(call.services)
    return _body(workers, *await workers.scale(call.body.replicas))


def _workers_of(services: GatewayServices) -> WorkerSet:
    if services.worker_set is None:
        raise Refusal(NOT_IN_KUBERNETES)
    return services.worker_set


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
