from __future__ import annotations

from uuid import UUID

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

PAYLOAD_AND_NOTICE: list[tuple[str, Notice]] = [
    ("wake", Wake()),
    ("wake:mail", Wake("mail")),
    ("wake:a:b", Wake("a:b")),
    ("wake:Überlauf 'x'; drop", Wake("Überlauf 'x'; drop")),
    ("ring:0badcafe:mail", Wake("mail", frozenset({"0badcafe"}))),
    ("ring:0badcafe,12345678:a:b", Wake("a:b", frozenset({"0badcafe", "12345678"}))),
    ("reap", Reap()),
    ("tick", TickNotice()),
    ("lost:42:3:cancelled", Lost(42, 3, "cancelled")),
    ("pause:mail: 1", Pause("mail: 1")),
    ("command:0-1", CommandNotice("0-1")),
    ("closed:42", Closed(42)),
    ("ping:abc", Ping("abc")),
]


def test_what_may_be_said_is_understood() -> None:
    for payload, notice in PAYLOAD_AND_NOTICE:
        assert parse_notice(payload) == notice


CASES: list[str] = [
    "",
    ":",
    "wake:",
    "Wake",
    "wake ",
    " wake",
    "WAKE:mail",
    "reap:1",
    "tick:now",
    "ping",
    "ping:",
    "lost",
    "lost:1:2",
    "lost:one:2:x",
    "lost:-1:2:x",
    "lost:1:2:3:4",
    "lost:²:1:x",
    "lost:99999999999999999999:1:x",
    '{"wake": true}',
    "wake:" + "x" * 1000,
    "drop table leasehold.jobs",
    "closed",
    "closed:",
    "closed:one",
    "closed:-1",
    "closed:1:2",
    "closed: 1",
    "closed:²",
    "closed:99999999999999999999",
    "Closed:1",
    "closed:1 ",
    "pause",
    "pause:",
    "command",
    "command:",
    "ring",
    "ring:",
    "ring:0badcafe",
    "ring:0badcafe:",
    "ring::mail",
    "ring:0badcafe:" + "x" * 1000,
]


def test_nonsense_is_nothing() -> None:
    for payload in CASES:
        assert parse_notice(payload) is None


def test_a_ring_means_the_workers_that_it_names() -> None:
    ada, bob = UUID("0badcafe-0000-4000-8000-000000000000"), UUID("0badcaff-0000-4000-8000-000000000000")
    assert [Wake("q", frozenset({"0badcafe", "x"})).means(worker) for worker in (ada, bob)] == [True, False]
    assert Wake("q").means(bob)


@given(st.text(max_size=60) | st.from_regex(r"(wake|ring|reap|tick|lost|pause|command|closed|ping):?.{0,30}"))
def test_no_payload_makes_the_parser_raise(payload: str) -> None:
    parse_notice(payload)
