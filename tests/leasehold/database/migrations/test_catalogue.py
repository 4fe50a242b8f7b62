from __future__ import annotations

import pytest

from leasehold.database.migrations import Catalogue


def names(catalogue: Catalogue) -> list[str]:
    return [item.name for item in catalogue.repeatables]


def test_views_come_after_the_views_and_functions_that_they_name() -> None:
    views = {
        "all_boxes": "create view leasehold.all_boxes as select * from leasehold.boxes where at < leasehold.clock()",
        "a_report": "create view leasehold.a_report as select * from leasehold.all_boxes",
    }
    functions = {"clock": "create function leasehold.clock() returns timestamptz as $$ select now() $$"}
    assert names(Catalogue.of({}, views, functions)) == ["clock", "all_boxes", "a_report"]


def test_functions_come_after_what_their_signature_names_and_bodies_do_not_count() -> None:
    functions = {
        "ask": "create function leasehold.ask() returns setof leasehold.all_boxes\nAS $x$ select leasehold.tell() $x$",
        "tell": "-- see leasehold.ask\ncreate function leasehold.tell() returns int as $$ select leasehold.ask() $$",
    }
    views = {"all_boxes": "create view leasehold.all_boxes as select 1 as n"}
    assert names(Catalogue.of({}, views, functions)) == ["all_boxes", "tell", "ask"]


def test_dependents_are_told_in_the_order_in_which_they_can_be_dropped() -> None:
    views = {
        "one": "create view leasehold.one as select 1 as n",
        "two": "create view leasehold.two as select * from leasehold.one",
        "three": "create view leasehold.three as select * from leasehold.two",
        "other": "create view leasehold.other as select 1 as n",
    }
    assert [item.name for item in Catalogue.of({}, views, {}).dependents("one")] == ["three", "two"]


@pytest.mark.parametrize("stems", [["0002_b"], ["0001_a", "0003_c"], ["0001_a", "0001_b"], ["1_a"], ["0001-a"]])
def test_migrations_are_numbered_without_gaps(stems: list[str]) -> None:
    with pytest.raises(ValueError, match=r"numbered 1, 2, 3…|is called NNNN_name\.sql"):
        Catalogue.of(dict.fromkeys(stems, ""), {}, {})


def test_a_view_and_a_function_do_not_share_a_name() -> None:
    with pytest.raises(ValueError, match="a view and a function have the same name"):
        Catalogue.of({}, {"box": ""}, {"box": ""})


def test_the_files_of_this_installation_are_in_order() -> None:
    catalogue = Catalogue.read()
    seen: set[str] = set()
    known = {item.name for item in catalogue.repeatables}
    for item in catalogue.repeatables:
        assert item.needs() & known <= seen
        seen.add(item.name)
    assert catalogue.version == len(catalogue.migrations) > 0


def test_only_a_line_of_its_own_marks_a_migration_as_breaking() -> None:
    texts = {"0001_a": "-- not breaking\nselect 1", "0002_b": "select 1;\n-- breaking: needs 0.3"}
    assert [migration.breaking for migration in Catalogue.of(texts, {}, {}).migrations] == [False, True]
