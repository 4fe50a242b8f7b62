from __future__ import annotations

import pytest

from leasehold.database.calls import call_text


def test_values_are_bound_by_place_and_by_name() -> None:
    assert call_text("wake", 0) == "select * from leasehold.wake()"
    assert call_text("get_job", 1) == "select * from leasehold.get_job($1)"
    assert (
        call_text("enqueue_job", 1, ("queue", "key"))
        == "select * from leasehold.enqueue_job($1, queue => $2, key => $3)"
    )


@pytest.mark.parametrize("name", ["", "drop table", "wake();--", 'wake"', "a.b"])
def test_only_names_get_into_a_statement(name: str) -> None:
    with pytest.raises(ValueError, match="no SQL name"):
        call_text(name, 0)
    with pytest.raises(ValueError, match="no SQL name"):
        call_text("wake", 0, (name,))
