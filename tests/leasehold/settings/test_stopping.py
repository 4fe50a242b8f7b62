from __future__ import annotations

import pytest

from leasehold.settings import Settings
from leasehold.settings.stopping import FORCE_SECONDS, seconds_to_stop


def test_without_a_limit_it_drains_for_as_long_as_it_was_told() -> None:
    assert seconds_to_stop(Settings(drain_seconds=7)) == (7, FORCE_SECONDS)


@pytest.mark.parametrize("stop", [2.0, 5.0, 10.0, 30.0, 60.0])
@pytest.mark.parametrize("drain", [0.0, 1.0, 30.0])
def test_draining_and_handing_back_end_before_the_kill(stop: float, drain: float) -> None:
    draining, forcing = seconds_to_stop(Settings(stop_seconds=stop, drain_seconds=drain))
    assert draining + forcing < stop
    assert 0 <= draining <= drain
    assert 0 < forcing <= FORCE_SECONDS
