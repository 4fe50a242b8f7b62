from __future__ import annotations

import json

from leasehold.database import Database

PATH = '$.type() == "object" && exists($.n) && $.n.type() == "number"'


CASES: list[tuple[object, bool]] = [
    ({"n": 1}, True),
    ({"n": "1"}, False),
    ({}, False),
    ({"n": 1, "more": 2}, False),
    (None, False),
    ([], False),
    ([{"n": 1}], False),
    (5, False),
    ("text", False),
]


async def test_args_are_easy_where_the_path_is_true_and_no_other_name_is_there(database: Database) -> None:
    for args, is_easy in CASES:
        [row] = await database.fetch("select leasehold.is_easy($1, $2::text::jsonpath, '{n}')", json.dumps(args), PATH)
        assert (row[0] is True) == is_easy


async def test_without_a_path_nothing_is_easy_and_without_names_all_names_are(database: Database) -> None:
    [row] = await database.fetch(
        "select leasehold.is_easy('{}', null, null), leasehold.is_easy('{\"a\": 1}', '$.type() == \"object\"', null)"
    )
    assert tuple(row) == (None, True)
