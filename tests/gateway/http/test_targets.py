from __future__ import annotations

import pytest

from leasehold.gateway.http.fields import cursor_at, place_of
from leasehold.gateway.http.replies import Reply, is_known, response_of
from leasehold.gateway.http.targets import accepts
from leasehold.gateway.routing.document import summary_of, without_null

CASES: list[tuple[str, bool]] = [
    ("application/json", True),
    ("*/*", True),
    ("application/*", True),
    ("", True),
    ("text/html, */*;q=0.1", True),
    ("APPLICATION/JSON; charset=utf-8", True),
    ("application/json;q=0.001", True),
    ("application/json;q=x", True),
    ("text/html", False),
    ("application/json;q=0", False),
    ("*/*, application/json;q=0", False),
    ("text/*", False),
    ("application/problem+json", False),
    ("application/*;q=0, */*", False),
    (",", False),
]


def test_the_most_specific_range_of_accept_decides() -> None:
    for accept, allowed in CASES:
        assert accepts(accept, "application/json; charset=utf-8") is allowed


@pytest.mark.parametrize(
    ("given", "known"),
    [(None, False), ('"a"', True), ('W/"a"', True), ('"b", "a"', True), ("*", True), ('"b"', False), ("a", False)],
)
def test_an_entity_tag_is_known_if_it_is_among_those_that_were_sent(given: str | None, known: bool) -> None:
    assert is_known('"a"', given) is known


@pytest.mark.parametrize("place", [0, 1, 2**63 - 1])
def test_a_cursor_says_where_to_go_on_and_always_has_the_same_length(place: int) -> None:
    assert place_of(cursor_at(place)) == place
    assert len(cursor_at(place)) == 17
    assert place_of(None) is None


def test_a_reply_has_its_own_status_and_headers_and_some_statuses_have_no_body() -> None:
    reply = response_of(Reply({"a": 1}, 202, {"Location": "/x"}), 201, {"Content-Type": "application/json"})
    assert (reply.status, reply.body, reply.headers["Location"]) == (202, b'{"a":1}', "/x")
    assert response_of(b"raw", 200, {"Content-Type": "text/plain"}).body == b"raw"
    empty = response_of(None, 304, {"Content-Type": "application/json", "Server": "us"})
    assert (empty.body, empty.headers.get("Server")) == (None, "us")


def test_what_may_be_left_out_of_a_query_is_not_null_there() -> None:
    schema = {"anyOf": [{"type": "string", "description": "x"}, {"type": "null"}], "default": None}
    assert without_null(schema) == {"type": "string", "description": "x"}
    assert without_null({"type": "integer", "default": 50}) == {"type": "integer", "default": 50}


def test_a_docstring_is_taken_apart() -> None:
    text, attributes = summary_of("""One line.

    Two lines
    of text.

    Attributes:
        one, two: both of
            these.
        three: that.

    Raises:
        BadInput: no.
    """)
    assert text == "One line.\n\nTwo lines of text."
    assert attributes == {"one": "both of these.", "two": "both of these.", "three": "that."}
    assert summary_of(None) == ("", {})
