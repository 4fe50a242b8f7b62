"""Enqueue middlewares of a synchronous client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, cast

import pytest

from leasehold import App, EnqueuedJob, NewJob, open_client
from leasehold.errors import BadInput, LeaseholdError
from leasehold.jobs.middleware import EnqueueNext
from leasehold.sync import Client
from leasehold.sync import EnqueueNext as SyncEnqueueNext
from leasehold.sync.client import SyncClient

T = TypeVar("T")


def stamp(jobs: Sequence[NewJob], call_next: Callable[[Sequence[NewJob]], T]) -> T:
    return call_next([job.but(metadata={"by": "web"}) for job in jobs])


async def awaited(jobs: Sequence[NewJob], call_next: EnqueueNext) -> list[EnqueuedJob]:
    return await call_next(jobs)


class AwaitedObject:
    async def __call__(self, jobs: Sequence[NewJob], call_next: EnqueueNext) -> list[EnqueuedJob]:
        return await call_next(jobs)


async def test_one_that_returns_what_comes_next_serves_both_clients(database_url: str) -> None:
    app = App()
    app.enqueue_middleware(stamp)
    async with open_client(database_url, app=app) as client:
        assert (await client.get(await client.enqueue("echo"))).metadata == {"by": "web"}
    with Client(database_url, app=app) as ours:
        assert ours.get(ours.enqueue("echo")).metadata == {"by": "web"}


def test_those_of_the_app_are_outside_those_of_the_client(database_url: str) -> None:
    app, order = App(), list[str]()

    def outer(jobs: Sequence[NewJob], call_next: Callable[[Sequence[NewJob]], T]) -> T:
        order.append("outer")
        return call_next(jobs)

    def inner(jobs: Sequence[NewJob], call_next: SyncEnqueueNext) -> list[EnqueuedJob]:
        order.append("inner")
        made = call_next(jobs)
        order.append(f"made {len(made)}")
        return made

    app.enqueue_middleware(outer)
    with SyncClient(database_url, app=app) as client:
        client.enqueue_middleware(inner)
        client.enqueue("echo")
    assert order == ["outer", "inner", "made 1"]


@pytest.mark.parametrize("layer", [awaited, AwaitedObject(), partial(awaited)])
def test_an_async_one_of_the_app_is_refused_before_anything_is_written(database_url: str, layer: Any) -> None:
    app = App()
    app.enqueue_middleware(layer)
    with SyncClient(database_url, app=app) as client:
        with pytest.raises(BadInput, match=r"is async, and a synchronous client awaits nothing; write it as a `def`"):
            client.enqueue("echo")
        assert client.chains.list() == []


def test_an_async_one_of_the_client_is_refused_when_it_is_added(client: SyncClient) -> None:
    with pytest.raises(BadInput, match="middleware awaited is async"):
        client.enqueue_middleware(cast("Any", awaited))


def test_one_that_forgets_to_return_is_named(client: SyncClient) -> None:
    def forgetful(jobs: Sequence[NewJob], call_next: SyncEnqueueNext) -> Any:
        call_next(jobs)

    client.enqueue_middleware(forgetful)
    with pytest.raises(
        LeaseholdError, match=r"forgetful returned None; .* Have it return what `call_next\(jobs\)` returns"
    ):
        client.enqueue("echo")
