from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leasehold.notify.channel import (
    Closed,
    CommandNotice,
    Lost,
    Notice,
    Pause,
    Ping,
    Reap,
    TickNotice,
    Wake,
    parse_notice,
)


@pytest.mark.parametrize(
    ("payload", "notice"),
    [
        ("wake", Wake()),
        ("wake:mail", Wake("mail")),
        ("wake:a:b", Wake("a:b")),
        ("wake:Überlauf 'x'; drop", Wake("Überlauf 'x'; drop")),
        ("reap", Reap()),
        ("tick", TickNotice()),
        ("lost:42:3:cancelled", Lost(42, 3, "cancelled")),
        ("pause:mail: 1", Pause("mail: 1")),
        ("command:0-1", CommandNotice("0-1")),
        ("closed:42", Closed(42)),
        ("ping:abc", Ping("abc")),
    ],
)
def test_what_may_be_said_is_understood(payload: str, notice: Notice) -> None:
    assert parse_notice(payload) == notice


@pytest.mark.parametrize(
    "payload",
    [
        "", ":", "wake:", "Wake", "wake ", " wake", "WAKE:mail", "reap:1", "tick:now", "ping", "ping:", "lost", "lost:1:2",
        "lost:one:2:x", "lost:-1:2:x", "lost:1:2:3:4", "lost:²:1:x", "lost:99999999999999999999:1:x", '{"wake": true}',
        "wake:" + "x" * 1000, "drop table leasehold.jobs", "closed", "closed:", "closed:one",
        "closed:-1", "closed:1:2", "closed: 1", "closed:²", "closed:99999999999999999999", "Closed:1", "closed:1 ",
        "pause", "pause:", "command", "command:",
    ],
)  # fmt: skip
def test_nonsense_is_nothing(payload: str) -> None:
    assert parse_notice(payload) is None


@given(st.text(max_size=60) | st.from_regex(r"(wake|reap|tick|lost|pause|command|closed|ping):?.{0,30}"))
def test_no_payload_makes_the_parser_raise(payload: str) -> None:
    parse_notice(payload)
