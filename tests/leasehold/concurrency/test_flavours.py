from __future__ import annotations

import pytest

from leasehold.concurrency.flavours import new_moment, pause, running_flavour
from tests.support.flavours import in_flavour, under_asyncio
from tests.support.many import tasks


async def test_trio_is_recognised() -> None:
    assert running_flavour() == "trio"


@under_asyncio
async def test_asyncio_is_recognised() -> None:
    assert running_flavour() == "asyncio"


def test_outside_of_both_it_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="async library"):
        running_flavour()


BOTH = pytest.mark.parametrize("flavour", ["trio", "asyncio"])


@BOTH
def test_who_waits_goes_on_when_it_comes_and_who_comes_later_does_not_wait(flavour: str) -> None:
    async def main() -> None:
        moment, seen = new_moment(), list[bool]()

        async def wait() -> None:
            seen.append(await moment.within(None))

        async with tasks() as start:
            start(wait)
            await pause(0)
            assert seen == []
            moment.set()
        assert seen == [True]
        assert await moment.within(0) is True

    in_flavour(flavour, main)


@BOTH
def test_when_the_time_is_up_it_has_not_come(flavour: str) -> None:
    async def main() -> None:
        assert await new_moment().within(0.01) is False

    in_flavour(flavour, main)


@BOTH
def test_others_have_their_turn_during_a_pause(flavour: str) -> None:
    order: list[str] = []

    async def note() -> None:
        order.append("another task")

    async def main() -> None:
        async with tasks() as start:
            start(note)
            await pause(0.001)
            order.append("after the pause")

    in_flavour(flavour, main)
    assert order == ["another task", "after the pause"]
