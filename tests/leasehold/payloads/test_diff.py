"""What has changed between two lists of records."""

from __future__ import annotations

import tracemalloc
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leasehold.errors import BadInput
from leasehold.payloads.diff import ComparedRecord, Comparison, FieldChange, check_comparison, diff_records, records_in
from tests.support.saved import AFTER, BEFORE

FIELDS = ("price", "stock")
CATALOGUE = st.dictionaries(st.integers(0, 30), st.tuples(st.integers(0, 3), st.integers(0, 3)))


def read(value: Any, **comparison: Any) -> list[ComparedRecord]:
    return records_in(msgspec.json.encode(value), Comparison(**comparison), "payload 1")


def records(catalogue: dict[int, tuple[int, int]]) -> list[ComparedRecord]:
    return [ComparedRecord(key, values, None) for key, values in catalogue.items()]


def test_what_came_what_went_and_what_changed_is_told() -> None:
    found = diff_records(read(BEFORE), read(AFTER), FIELDS)
    assert (found.before, found.after) == (3, 3)
    assert found.counts == {"added": 1, "removed": 1, "price": 1, "stock": 1}
    assert found.added == [{"id": 4, "name": "no. 4", "price": 7.0, "stock": 1}]
    assert found.removed == [{"id": 2, "name": "no. 2", "price": 4.0, "stock": 0}]
    assert found.changes["price"] == [FieldChange(1, 2.5, 2.75, "no. 1")]
    assert found.changes["stock"] == [FieldChange(3, 9, 8, "no. 3")]


@given(CATALOGUE, CATALOGUE)
def test_applied_to_the_first_it_gives_the_second(
    before: dict[int, tuple[int, int]], after: dict[int, tuple[int, int]]
) -> None:
    found = diff_records(records(before), records(after), FIELDS)
    made: dict[int, dict[str, int]] = {key: dict(zip(FIELDS, values, strict=True)) for key, values in before.items()}
    for gone in found.removed:
        del made[gone["id"]]
    for field, changes in found.changes.items():
        for each in changes:
            assert made[each.key][field] == each.old
            made[each.key][field] = each.new
    made |= {each["id"]: {field: each[field] for field in FIELDS} for each in found.added}
    assert made == {key: dict(zip(FIELDS, values, strict=True)) for key, values in after.items()}
    assert diff_records(records(after), records(after), FIELDS).counts == dict.fromkeys(found.counts, 0)


def test_all_are_counted_and_some_are_listed() -> None:
    found = diff_records([], records({n: (n, 0) for n in range(100)}), FIELDS, limit=7)
    assert (found.counts["added"], len(found.added)) == (100, 7)


def test_of_several_records_with_one_key_the_last_counts() -> None:
    found = diff_records(read([{"id": 1, "price": 1}]), read([{"id": 1, "price": 1}, {"id": 1, "price": 2}]), FIELDS)
    assert (found.after, found.counts["price"]) == (1, 1)


@pytest.mark.parametrize(
    ("value", "comparison"),
    [
        ([{"id": 5, "price": 1}], {}),
        ({"products": [{"id": 5, "price": 1}], "total": 1}, {}),
        ({"data": {"page": {"products": [{"id": 5, "price": 1}]}}}, {}),
        ({"images": [], "products": [{"id": 5, "price": 1}]}, {"records": "products"}),
        ({"data": {"a": [1], "b": [{"id": 5, "price": 1}]}}, {"records": "data.b"}),
        ([{"sku": 5, "cost": 1}], {"key": "sku", "fields": ("cost", "stock")}),
        ([{"name": 5, "price": 1}], {"key": "name"}),
    ],
)
def test_the_records_are_found(value: Any, comparison: dict[str, Any]) -> None:
    [record] = read(value, **comparison)
    assert (record.key, record.values) == (5, (1, None))


@pytest.mark.parametrize(
    ("value", "comparison", "complaint"),
    [
        ([{"price": 1}], {}, "payload 1 has no records to compare by 'id'.*missing required field `id`"),
        ([1, 2], {}, "payload 1 has no records"),
        ("text", {}, "payload 1 has no records"),
        ({"a": [], "b": []}, {}, "say where the records of the payload are.*'a', 'b'"),
        ({"a": 1}, {}, "say where the records"),
        ({"a": {"b": 1}}, {"records": "a.c"}, "'c' is not among 'b'"),
        ([{"id": None}], {}, "must be a text or an integer"),
        ([{"id": [1]}], {}, "must be a text or an integer"),
    ],
)
def test_what_has_no_records_is_refused(value: Any, comparison: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        read(value, **comparison)


def test_what_is_no_json_is_refused() -> None:
    for content in (b"", b"\x89PNG", b"[{", b"[" * 100_000):
        with pytest.raises(BadInput, match="payload 1 has no records"):
            records_in(content, Comparison(), "payload 1")


@pytest.mark.parametrize(
    "comparison",
    [
        Comparison(fields=()),
        Comparison(fields=("",)),
        Comparison(key=""),
        Comparison(fields=("price", "price")),
        Comparison(fields=("id",)),
        Comparison(fields=("added",)),
        Comparison(fields=('a"b',)),
        Comparison(key="a\x00b"),
        Comparison(fields=("a\\b",)),
    ],
)
def test_a_comparison_of_nothing_is_refused(comparison: Comparison) -> None:
    with pytest.raises(BadInput, match=r"a diff needs a key and other fields|a field that is compared has no"):
        check_comparison(comparison)


def test_too_many_records_are_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leasehold.payloads.diff.MOST_RECORDS", 3)
    nested = [{"id": number, "sizes": [{"id": 1}, {"id": 2}]} for number in range(3)]
    assert len(read(nested)) == 3
    with pytest.raises(BadInput, match="payload 1 has 4 records, and 3 are the most"):
        read([{"id": number} for number in range(4)])


def test_a_hundred_thousand_products_take_no_more_memory_than_a_few_times_their_json() -> None:
    products = [
        {"id": n, "name": f"no. {n}", "price": n / 4, "stock": n % 7, "text": "x" * 100} for n in range(100_000)
    ]
    content = bytearray(msgspec.json.encode({"products": products}))
    del products
    tracemalloc.start()
    before, after = [records_in(content, Comparison(), "payload 1") for _ in range(2)]
    found = diff_records(before, after, FIELDS)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.after, sum(found.counts.values())) == (100_000, 0)
    assert most < 10 * len(content)
