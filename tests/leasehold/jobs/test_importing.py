from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import trio

from leasehold import App
from leasehold.actors.processes import member, pool
from leasehold.actors.processes.pool import check_process_kinds, pool_for
from leasehold.actors.run import run_actors
from leasehold.errors import BadInput, InvalidArgs
from leasehold.jobs.kind import CheckedKindOptions, Kind, check_importable, find_object
from leasehold.settings import Settings

app = App()


@app.kind(runs="process", memory_limit=128 * 1_048_576)
def at_the_top() -> int:
    return 1


def plain() -> int:
    return 2


def shadowed() -> int:  # pyright: ignore[reportRedeclaration]  the case under test
    return 3


first_shadowed = shadowed


def shadowed() -> int:
    return 4


class House:
    @staticmethod
    def inside() -> int:
        return 5


async def asynchronous() -> None: ...


def nested() -> Any:
    def inner() -> None: ...

    return inner


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: 1, "a lambda cannot be imported"),
        (nested(), "inner, made inside a function, cannot be imported"),
        (asynchronous, "is async; runs='process' is for plain functions"),
        (partial(plain), "has no name to import it by"),
    ],
)
def test_what_no_process_could_call_is_refused_when_it_is_registered(function: Any, message: str) -> None:
    with pytest.raises(InvalidArgs, match=message) as refused:
        App().kind("picture", runs="process")(function)
    assert "handler picture" in str(refused.value)


def test_a_decorated_and_a_plain_handler_are_found_by_their_names() -> None:
    assert find_object(__name__, "at_the_top") is at_the_top
    for function in (at_the_top.function, plain, House.inside):
        check_importable("some", function)


def test_a_name_that_leads_elsewhere_is_refused_when_the_worker_starts() -> None:
    other = App()
    other.kind("lost", runs="process")(first_shadowed)
    with pytest.raises(
        InvalidArgs, match=r"handler lost: tests\.leasehold\.jobs\.test_importing:shadowed is .* not this"
    ):
        check_process_kinds(other)
    with pytest.raises(InvalidArgs, match="handler lost"):
        pool_for(other, 3)
    with pytest.raises(InvalidArgs, match="handler lost"):
        trio.run(
            partial(run_actors, ["worker"], Settings(database_url="postgresql://nobody@127.0.0.1:1/none"), app=other)
        )


def test_a_worker_says_at_its_start_that_the_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member, "trio_parallel", None)
    with pytest.raises(BadInput, match=r"pip install 'leasehold\[process\]'"):
        check_process_kinds(app)


def test_a_worker_has_as_many_processes_as_slots_but_no_more_than_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "usable_cpus", lambda: 4)
    sizes = [found.size for slots in (3, 8) if (found := pool_for(app, slots))]
    assert (sizes, pool.usable_cpus() >= 1) == ([3, 4], True)


def test_a_name_that_leads_nowhere_is_refused_when_the_worker_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "__module__", "no_such_module")
    with pytest.raises(InvalidArgs, match="handler lost: no_such_module:plain cannot be imported"):
        check_importable("lost", plain)


def test_a_memory_limit_is_in_bytes_and_for_processes() -> None:
    assert at_the_top.options.memory_limit == 134_217_728
    with pytest.raises(BadInput, match="in bytes and at least 67108864, not 512"):
        CheckedKindOptions(memory_limit=512)
    with pytest.raises(BadInput, match="handler plain: memory_limit is for runs='process'; this one runs in thread"):
        Kind("plain", plain, None, CheckedKindOptions(memory_limit=134_217_728))
