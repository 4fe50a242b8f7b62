"""Request and response bodies of `/api/workers/k8s/…`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


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
