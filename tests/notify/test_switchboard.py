from __future__ import annotations

from leasehold.notify.channel import Notice, Reap, TickNotice, Wake
from leasehold.notify.switchboard import Switchboard


def test_a_notice_reaches_all_who_asked_for_its_type_and_nobody_else() -> None:
    heard: list[tuple[str, Notice]] = []
    switchboard = Switchboard()
    switchboard.subscribe(Wake, lambda notice: heard.append(("a", notice)))
    switchboard.subscribe(Wake, lambda notice: heard.append(("b", notice)))
    switchboard.subscribe(TickNotice, lambda notice: heard.append(("c", notice)))
    switchboard.publish(Wake("mail"))
    switchboard.publish(Reap())
    assert heard == [("a", Wake("mail")), ("b", Wake("mail"))]


def test_after_a_reconnect_everybody_looks() -> None:
    looked: list[str] = []
    switchboard = Switchboard()
    switchboard.subscribe_reconnect(lambda: looked.append("a"))
    switchboard.subscribe_reconnect(lambda: looked.append("b"))
    switchboard.publish_reconnect()
    assert looked == ["a", "b"]
