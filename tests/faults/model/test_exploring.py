"""The lease protocol holds in every order of its steps, and each variant that lacks a guard is refuted."""

from __future__ import annotations

import pytest

from faults.model.exploring import Size, explore
from faults.model.protocol import Protocol
from faults.model.variants import VARIANTS, Variant


@pytest.mark.parametrize("size", [Size(2, 1, 2), Size(2, 2, 1)], ids=str)
def test_no_order_of_steps_breaks_the_protocol_and_from_everywhere_all_jobs_can_end(size: Size) -> None:
    found = explore(Protocol(), size)
    assert (found.broken, found.way, found.stuck) == (None, (), 0)
    assert found.states > 5_000


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_protocol_that_lacks_a_guard_is_refuted(variant: Variant) -> None:
    found = explore(variant.protocol, variant.size)
    if variant.breaks == "stuck":
        assert found.broken is None
        assert found.stuck > 0
    else:
        assert (found.broken or "").startswith(variant.breaks), found
        assert found.way
