from __future__ import annotations

import pytest

from leasehold.notify.moment import new_moment, pause
from tests.support.flavours import in_flavour
from tests.support.many import pause, tasks

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


async def test_a_pause_lasts_as_long_as_it_was_said_to_under_trio(autojump_clock: MockClock) -> None:
    began = trio.current_time()
    await pause(60)
    assert trio.current_time() - began == 60


def test_a_pause_is_one_of_asyncio_where_that_runs() -> None:
    async def main() -> list[str]:
        order: list[str] = []

        async def note() -> None:
            order.append("another task")

        task = asyncio.create_task(note())
        await pause(0)
        order.append("after the pause")
        await task
        return order

    assert asyncio.run(main()) == ["another task", "after the pause"]
