from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from leasehold import App
from leasehold.errors import BadInput
from leasehold.jobs.catalogue import Promise, output_type, typed_blocker, typed_output
from leasehold.jobs.endings import ContinueWith
from leasehold.payloads.claim_checks import ClaimCheck, write_check


class Receipt(msgspec.Struct):
    """An output of a type of one's own."""

    number: int


app = App()


@app.kind()
async def pay() -> Receipt:
    return Receipt(1)


@app.kind()
async def order() -> ContinueWith[Receipt]:
    raise NotImplementedError


@app.kind()
async def either() -> ContinueWith[Receipt] | None:
    return None


@app.kind()
def nothing() -> None: ...


@app.kind()
async def silent():  # type: ignore[no-untyped-def]
    return 1


def test_an_output_is_made_what_the_handler_promises() -> None:
    kinds: list[Any] = [pay, order, either]
    for kind in kinds:
        assert typed_output(kind, {"number": 7}) == Receipt(7)
    assert typed_output(either, None) is None
    assert typed_output(nothing, None) is None


def test_without_a_promise_it_is_left_as_it_is() -> None:
    assert output_type(silent) is Any
    assert typed_output(silent, {"a": [1]}) == {"a": [1]}


@pytest.mark.parametrize(("kind", "output"), [(pay, {"number": "x"}), (pay, None), (nothing, 1)])
def test_an_output_that_does_not_fit_is_refused(kind: Any, output: Any) -> None:
    with pytest.raises(BadInput, match=f"does not fit what {kind.name} promises"):
        typed_output(kind, output)


def test_a_claim_check_that_a_client_without_the_store_gets_is_no_misfit() -> None:
    check = write_check(ClaimCheck(57, 3_000_000, "0" * 64, "list of 105")).decode()
    with pytest.raises(BadInput, match=r"lies in the payload store, .* give it payloads="):
        typed_output(pay, msgspec.json.decode(check))


def test_inside_other_types_continuations_are_left_alone() -> None:
    @app.kind()
    async def many() -> list[timedelta]:
        return []

    assert typed_output(many, ["P1D"]) == [timedelta(days=1)]


def test_a_blocker_becomes_what_was_asked_for() -> None:
    assert typed_blocker(Receipt, {"number": 3}, 1, 7) == Receipt(3)
    assert typed_blocker(Receipt | None, None, 1, 7) is None
    assert typed_blocker(dict[int, timedelta], {"1": "PT1S"}, 1, 7) == {1: timedelta(seconds=1)}


@pytest.mark.parametrize(
    ("wanted", "output", "said"),
    [
        (Receipt, {"number": "x"}, "does not fit Receipt: Expected `int`, got `str` - at `$.number`"),
        (Receipt, None, "does not fit Receipt: Expected `object`, got `null`"),
        (int | str, [], "does not fit int | str: Expected `int | str`, got `array`"),
        (object, [], None),
    ],
)
def test_a_blocker_that_does_not_fit_is_named(wanted: Any, output: Any, said: str | None) -> None:
    if said is None:
        assert typed_blocker(wanted, output, 2, 71) == output
        return
    with pytest.raises(BadInput) as refused:
        typed_blocker(wanted, output, 2, 71)
    assert str(refused.value) == f"the output of blocker 2, chain 71, {said}"


@pytest.mark.parametrize(
    ("kind", "output", "is_broken"),
    [
        (pay, Receipt(1), False),
        (pay, {"number": 1}, False),
        (pay, {"number": "one"}, True),
        (pay, None, True),
        (order, {"number": 1}, False),
        (order, 5, True),
        (either, None, False),
        (either, "text", True),
        (nothing, 5, False),
        (silent, 5, False),
    ],
)
def test_what_is_returned_is_held_against_what_was_promised(kind: Any, output: Any, is_broken: bool) -> None:
    assert (Promise(kind).broken_by(output, msgspec.json.encode(output)) is not None) is is_broken


def test_a_broken_promise_names_the_kind_the_annotation_and_the_place() -> None:
    told = Promise(pay).broken_by({"number": "one"}, b'{"number":"one"}')
    assert told == (
        "the output does not fit what pay is annotated to return, Receipt: Expected `int`, got `str` - at `$.number`"
    )
