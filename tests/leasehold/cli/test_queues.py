from __future__ import annotations

from tests.leasehold.cli.conftest import Cli


def test_pausing_and_resuming_tell_whether_they_changed_anything(cli: Cli) -> None:
    assert cli("queues", "pause", "crawl").json() == {"queue": "crawl", "paused": True, "changed": True}
    assert cli("queues", "pause", "crawl", "--output", "text").out == "queue crawl was already paused\n"
    assert cli("queues", "resume", "crawl", "--output", "text").out == "queue crawl is now running\n"
    assert cli("queues", "resume", "crawl").json() == {"queue": "crawl", "paused": False, "changed": False}


def test_a_queue_must_be_named(cli: Cli) -> None:
    assert cli("queues", "pause", "").code == 2
