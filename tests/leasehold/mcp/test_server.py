from __future__ import annotations

import pytest

from leasehold.errors import BadInput
from leasehold.mcp.server import VALID_SECONDS, Confirmations


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def confirmations(clock: Clock) -> Confirmations:
    return Confirmations(clock)


def test_a_code_confirms_its_change_once(confirmations: Confirmations) -> None:
    code = confirmations.ask("retry_job", {"id": 1})
    confirmations.take(code, "retry_job", {"id": 1})
    with pytest.raises(BadInput, match="does not confirm"):
        confirmations.take(code, "retry_job", {"id": 1})


@pytest.mark.parametrize(("name", "arguments"), [("retry_job", {"id": 2}), ("cancel_job", {"id": 1})])
def test_a_code_confirms_nothing_else_and_is_lost_in_the_attempt(
    confirmations: Confirmations, name: str, arguments: dict[str, int]
) -> None:
    code = confirmations.ask("retry_job", {"id": 1})
    for again in ((name, arguments), ("retry_job", {"id": 1})):
        with pytest.raises(BadInput, match="Nothing was changed"):
            confirmations.take(code, *again)


def test_a_code_grows_old(confirmations: Confirmations, clock: Clock) -> None:
    code = confirmations.ask("retry_job", {"id": 1})
    clock.now += VALID_SECONDS
    with pytest.raises(BadInput, match="ten minutes"):
        confirmations.take(code, "retry_job", {"id": 1})


def test_a_code_that_was_never_given_confirms_nothing(confirmations: Confirmations) -> None:
    with pytest.raises(BadInput):
        confirmations.take("", "retry_job", {"id": 1})
