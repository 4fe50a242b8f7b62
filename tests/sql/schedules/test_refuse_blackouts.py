from __future__ import annotations

import json

import pytest

from leasehold.database import Database


async def refuse(database: Database, *blackouts: object) -> str:
    return str(await database.call_value("refuse_blackouts", json.dumps(blackouts)))


@pytest.mark.parametrize(
    "blackout",
    [
        {"from": "22:00", "to": "06:00"},
        {"from": "00:00", "to": "24:00", "days": ["sat", "sun"]},
        {"from": "2030-12-24", "to": "2030-12-27T12:00:00+01:00"},
    ],
    ids=["over midnight", "whole days", "a stretch"],
)
async def test_windows_of_the_day_and_stretches_are_fine(database: Database, blackout: object) -> None:
    assert await refuse(database, blackout) == "None"


CASES: list[tuple[object, str]] = [
    ("22:00", "blackout 2 must be an object with from and to"),
    ({"from": "22:00"}, "blackout 2 needs from and to, as text"),
    ({"from": 22, "to": 6}, "blackout 2 needs from and to, as text"),
    ({"from": "22:00", "to": "06:00", "day": "mon"}, "blackout 2 has the unknown field 'day'"),
    ({"from": "22:00", "to": "24:01"}, "blackout 2 must end at a time of day"),
    ({"from": "22:00", "to": "2030-01-01"}, "blackout 2 must end at a time of day"),
    ({"from": "22:00", "to": "06:00", "days": ["monday"]}, "blackout 2 must name days"),
    ({"from": "22:00", "to": "06:00", "days": []}, "blackout 2 must name days"),
    ({"from": "2030-01-02", "to": "2030-01-01"}, "blackout 2 must end after it begins"),
    ({"from": "2030-01-01", "to": "infinity"}, "blackout 2 must have finite times"),
    ({"from": "2030-01-01", "to": "2030-01-02", "days": ["mon"]}, "blackout 2 has days"),
]


async def test_the_one_that_is_wrong_is_named(database: Database) -> None:
    for blackout, complaint in CASES:
        assert (await refuse(database, {"from": "22:00", "to": "06:00"}, blackout)).startswith(complaint)


async def test_there_is_a_most(database: Database) -> None:
    assert "at the most, not 101" in await refuse(database, *[{"from": "22:00", "to": "06:00"}] * 101)
