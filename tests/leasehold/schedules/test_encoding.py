from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from leasehold.errors import BadInput, InvalidArgs
from leasehold.schedules.definition import ScheduleChange, ScheduleDefinition
from leasehold.schedules.encoding import checked_changes, checked_definition

GOOD = {"name": "s", "kind": "echo", "every": 60}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no rhythm": ({"every": None}, "schedule 's': give one of every, cron, at$"),
    "two rhythms": ({"cron": "@daily"}, "give one of every, cron, at, not every and cron"),
    "interval too short": ({"every": 0.5}, r"schedule 's': every: expected `float` >= 1.0, not 0.5"),
    "interval without end": ({"every": float("inf")}, "every of schedule 's' must be a number, not inf"),
    "no number": ({"every": float("nan")}, "must be a number, not nan"),
    "a truth": ({"every": True}, "got `bool`, not True"),
    "cron out of range": ({"every": None, "cron": "61 * * * *"}, "schedule 's': cron expression '61 .*': Bad minute"),
    "cron that never is": ({"every": None, "cron": "0 0 30 2 *"}, "Bad day-of-month"),
    "no such alias": ({"every": None, "cron": "@dayly"}, "no cron alias '@dayly'; there are: @hourly"),
    "no such zone": ({"zone": "Mars/Phobos"}, "there is no time zone 'Mars/Phobos'"),
    "a path as zone": ({"zone": "/etc/passwd"}, "there is no time zone"),
    "a time without zone": ({"starts_at": datetime(2030, 1, 1)}, "starts_at of schedule 's' must have a time zone"),
    "an end before the start": (
        {"starts_at": "2030-01-02T00:00:00Z", "ends_at": "2030-01-01T00:00:00Z"},
        "starts_at must be before ends_at",
    ),
    "an unknown option": ({"evry": 5}, "there is no evry; did you mean every?"),
    "an unknown choice": ({"missed": "maybe"}, "missed: must be one of skip, catch_up, coalesce, not 'maybe'"),
    "a control character": ({"name": "a\nb"}, "name: must not have a control character, not 'a.nb'"),
    "no name": ({"name": ""}, "name: expected `str` of length >= 1, not ''"),
    "a long name": ({"name": "ä" * 101}, "a name has at most 200 bytes, not 202"),
    "half a character": ({"name": "a\ud800"}, "it has a character that is none"),
    "args that are no object": ({"args": [1]}, "args: expected `object`"),
    "a zero byte": ({"args": {"a": "\x00"}}, "cannot be kept in Postgres"),
    "metadata that is no JSON": (
        {"metadata": {"x": float("nan")}},
        "metadata of schedule 's'.x: nan is no JSON number",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_schedule_is_refused_by_name_with_the_value(name: str) -> None:
    fields, said = WRONG[name]
    with pytest.raises((BadInput, InvalidArgs), match=said):
        checked_definition({**GOOD, **fields})


def test_a_definition_has_json_values_and_nothing_that_was_not_given() -> None:
    assert checked_definition({**GOOD, "cron": None, "args": {}, "zone": "Europe/Berlin"}) == {
        "name": "s",
        "kind": "echo",
        "every": 60.0,
        "zone": "Europe/Berlin",
    }


def test_changes_keep_none_which_brings_back_the_default() -> None:
    assert checked_changes("s", {"stagger": None, "missed": "skip"}) == {"stagger": None, "missed": "skip"}
    with pytest.raises(BadInput, match="nothing to change of schedule 's' is given"):
        checked_changes("s", {})
    with pytest.raises(BadInput, match="give one of every, cron, at, not every and at"):
        checked_changes("s", {"every": 5, "at": "2030-01-01T00:00:00Z"})
    with pytest.raises(BadInput, match="kind: expected `str`"):
        checked_changes("s", {"kind": None})
    with pytest.raises(BadInput, match="there is no name"):
        checked_changes("s", {"name": "t"})


def test_whatever_a_definition_has_may_change_but_its_name() -> None:
    assert set(ScheduleChange.__struct_fields__) == set(ScheduleDefinition.__struct_fields__) - {"name"}
