"""The routes of `/api/workers/k8s/…`."""

from __future__ import annotations

from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.problems import KUBERNETES_ERRORS
from leasehold.gateway.resources.workers import replica_bodies, replica_handlers
from leasehold.gateway.routing.routes import Route

TAGS = ("workers",)

REPLICA_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/workers/k8s/replicas",
        handler=replica_handlers.show_replicas,
        summary="Show how many pods of workers Kubernetes has",
        response=replica_bodies.ReplicasBody,
        errors=KUBERNETES_ERRORS,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/workers/k8s/scale",
        handler=replica_handlers.scale_workers,
        summary="Set how many pods of workers there are to be",
        request=replica_bodies.ScaleBody,
        response=replica_bodies.ReplicasBody,
        example={"replicas": 10},
        errors=KUBERNETES_ERRORS,
        scope=Scope.ADMIN,
        tags=TAGS,
    ),
)
