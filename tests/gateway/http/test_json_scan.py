from __future__ import annotations

import json
import time
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leasehold.gateway.http.reading import exceeds_depth, find_offence

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.text(alphabet='[]{}"\\,:aé') | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet='[]{}"\\a'), inner, max_size=4),
    max_leaves=30,
)


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, cast("dict[str, Any]", value).values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, cast("list[Any]", value)), default=0)
    return 0


@given(DOCUMENTS, st.integers(min_value=0, max_value=8), st.booleans())
def test_the_scan_agrees_with_counting_the_levels_of_the_decoded_document(
    value: object, limit: int, ascii: bool
) -> None:
    document = json.dumps(value, ensure_ascii=ascii).encode()
    assert exceeds_depth(document, limit) == (depth_of(value) > limit)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="arrays"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="objects"),
        pytest.param(b"[" * 100_000, id="never closed"),
        pytest.param(b"[{" * 50_000 + b'"' + b"}]" * 50_000, id="closed within a string that never ends"),
        pytest.param(b'["\\"]",' * 50_000 + b'""' + b"]" * 50_000, id="closing brackets in strings do not count"),
    ],
)
def test_a_hundred_thousand_levels_are_seen_at_once(document: bytes) -> None:
    start = time.thread_time()
    assert exceeds_depth(document, 100)
    assert time.thread_time() - start < 1.0


def test_many_shallow_objects_are_not_deep() -> None:
    assert not exceeds_depth(json.dumps([{"args": {"a": [1]}}] * 10_000).encode(), 4)


CASES: list[tuple[bytes, str]] = [
    (rb'{"a": {"b": [1, NaN]}}', "$.a.b[1]"),
    (rb'{"a": -Infinity}', "$.a"),
    (rb'{"a": "\u0000"}', "$.a"),
    (rb'{"a": {"\u0000": 1}}', "$.a"),
    (rb'{"a": "\ud800"}', "$.a"),
    (rb'{"a": "\ude00\ud83d"}', "$.a"),
    (b'{"a": "\xed\xa0\x80"}', "$.a"),
    (b'{"a": ["\xff"]}', "$.a[0]"),
    (rb'{"a": 1e400}', "$.a"),
    (b'{"a": ' + b"9" * 5000 + b"}", "$.a"),
]


def test_a_value_that_nobody_could_read_back_is_found_with_its_path() -> None:
    for document, path in CASES:
        offence = find_offence(document)
        assert offence is not None
        assert offence.path == path


@pytest.mark.parametrize(
    "document", [rb'{"a": "\\u0000"}', rb'"\ud83d\ude00"', rb'{"a": [1, 2.5e10, "x", null, true]}', b"{", b'{"a": nul}']
)
def test_what_is_no_offence_is_not_found(document: bytes) -> None:
    assert find_offence(document) is None
