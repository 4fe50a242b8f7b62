from __future__ import annotations

import pytest

from leasehold.actors.attempts.held_job import lease_margin, renewal_time


@pytest.mark.parametrize(("lease", "margin"), [(6.0, 1.0), (30.0, 5.0), (60.0, 5.0), (86_400.0, 5.0)])
def test_a_lease_is_trusted_until_a_sixth_before_its_end_and_five_seconds_at_most(lease: float, margin: float) -> None:
    assert lease_margin(lease) == margin


def test_a_lease_is_renewed_as_configured_and_after_a_third_of_it_at_the_latest() -> None:
    assert renewal_time(20.0, 60.0) == 20.0
    assert renewal_time(20.0, 30.0) == 10.0
