from __future__ import annotations

from datetime import UTC, datetime

from leasehold.client.feed.changes import Change, Wanted
from leasehold.gateway.stream.wire import MOST_CHANGES, Batch, Outbox, StreamMessage, heartbeat

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def change(job_id: int, queue: str = "q") -> Change:
    return Change(event="job_completed", at=NOON, job_id=job_id, attempt=1, kind="k", queue=queue, chain_id=job_id)


def test_a_message_is_one_line_of_data_whatever_is_in_it() -> None:
    text = StreamMessage("changes", [{"message": "a\nb\r\n\u2028c"}], "17").encode().decode()
    head, data, end, rest = text.split("\n", 2)[0], text.split("\n")[2], text[-2:], text.count("\n")
    assert (head, end, rest) == ("id: 17", "\n\n", 4)
    assert data.startswith('data: [{"message":"a\\nb\\r\\n')


def test_a_heartbeat_is_a_comment_and_no_event_though_it_carries_the_id() -> None:
    assert heartbeat("17") == b": heartbeat\nid: 17\n\n"
    assert heartbeat(None) == b": heartbeat\n\n"


def test_only_the_last_message_of_a_batch_carries_the_id_so_that_half_a_batch_is_told_again() -> None:
    changes = [change(number) for number in range(MOST_CHANGES + 1)]
    messages = Batch(changes, ["q"], "17").messages(Wanted())
    assert [(message.event, message.id) for message in messages] == [
        ("changes", None),
        ("changes", None),
        ("queues", "17"),
    ]


def test_whoever_wants_some_queues_hears_of_those_and_whoever_wants_one_job_of_none() -> None:
    batch = Batch([change(1, "a"), change(2, "b")], ["a", "b"], "17")
    assert [message.data for message in batch.messages(Wanted(queues=("b",)))] == [[change(2, "b")], ["b"]]
    assert [message.data for message in batch.messages(Wanted(job_id=1))] == [[change(1, "a")]]
    assert batch.messages(Wanted(job_id=3)) == []


async def test_a_letterbox_gives_what_is_in_it_once() -> None:
    box = Outbox(Wanted(), 100, None)
    box.put(b"one")
    box.put(b"two")
    assert (box.take(), box.take()) == (b"onetwo", b"")


async def test_a_letterbox_that_is_full_throws_everything_away_and_takes_no_more() -> None:
    box = Outbox(Wanted(), 5, None)
    box.put(b"four")
    assert box.is_crowded
    box.put(b"more")
    assert not box.is_crowded
    assert box.is_overfull
    box.put(b"x")
    assert box.take() == b""
