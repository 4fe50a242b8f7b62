from __future__ import annotations

import inspect

import pytest

from leasehold import errors

EVERY = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, errors.LeaseholdError)
]


@pytest.mark.parametrize("error", EVERY)
def test_each_error_says_by_itself_what_happened(error: type[errors.LeaseholdError]) -> None:
    assert str(error()) == inspect.cleandoc(error.__doc__ or "").splitlines()[0]
    assert str(error("more exactly")) == "more exactly"


def test_the_tree_in_the_documentation_is_the_tree() -> None:
    drawn = errors.__doc__ or ""
    assert [error.__name__ for error in EVERY if error.__name__ not in drawn] == []
