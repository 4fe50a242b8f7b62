from __future__ import annotations

from typing import get_args

import pytest

from leasehold.database.signatures import CURRENT
from leasehold.drivers import DOCUMENTS, STYLES, TEXT_PLACES, Style, call_text, parameters
from leasehold.sql import read_text
from tests.support.signatures import parse

TIME = "timestamp with time zone"
PLACES: dict[Style, str] = {
    "numeric_dollar": "$1, $2",
    "format": "%s, %s",
    "pyformat": "%(p1)s, %(p2)s",
    "named": ":p1, :p2",
    "numeric": ":1, :2",
    "qmark": "?, ?",
}


@pytest.mark.parametrize("style", get_args(Style))
def test_each_style_has_its_places_for_values(style: Style) -> None:
    assert call_text("cancel_job", 2, style=style) == f"select * from leasehold.cancel_job({PLACES[style]})"


def test_the_values_are_a_dict_where_places_have_names() -> None:
    made = {style: parameters(["a", True], style) for style in get_args(Style)}
    named = {"p1": "a", "p2": True}
    assert made == {style: named if style in ("pyformat", "named") else ("a", True) for style in STYLES}


def test_json_goes_as_text_on_connections_of_callers_and_as_it_is_on_ours() -> None:
    assert call_text("enqueue_jobs", 1, style="format") == (
        "select * from leasehold.enqueue_jobs(cast(cast(%s as text) as jsonb))"
    )
    assert call_text("enqueue_jobs", 1) == "select * from leasehold.enqueue_jobs($1)"


@pytest.mark.parametrize("function", sorted({*TEXT_PLACES, *DOCUMENTS, "delete_job"}))
def test_what_a_codec_of_the_caller_could_write_goes_as_text(function: str) -> None:
    [signature] = [each for each in parse(read_text(CURRENT)) if each.function == function]
    # That of add_payload goes by name, and only from handlers.
    passed = [each for each in signature.parameters if (function, each.name) != ("add_payload", "incarnation")]
    named = {n: each.type for n, each in enumerate(passed, 1)}
    expected = {n: kind.replace("timestamptz", TIME) for n, kind in TEXT_PLACES.get(function, {}).items()}
    assert {n: kind for n, kind in named.items() if kind in ("json", "jsonb", TIME, "uuid")} == expected
