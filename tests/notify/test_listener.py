from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import pytest
import trio

from leasehold.actors.supervise import supervise
from leasehold.database import Database
from leasehold.database.border import Listening
from leasehold.errors import DatabaseUnavailable
from leasehold.notify import listener as listener_module
from leasehold.notify.channel import Lost, Notice, Reap, TickNotice, Wake
from leasehold.notify.listener import Listener
from leasehold.notify.switchboard import Switchboard
from tests.support.waiting import PATIENCE, until

LISTENERS = "select 1 from pg_stat_activity where application_name like '%listener' and datname = current_database()"


class Hearing:
    """A listener, and what came through its switchboard."""

    def __init__(self, database: Database, notices: Sequence[type[Notice]] = (Wake, Reap, TickNotice, Lost)) -> None:
        self.database = database
        self.switchboard = Switchboard()
        self.listener = Listener(database, self.switchboard)
        self.heard: list[Notice] = []
        self.reconnects = 0
        for notice in notices:
            self.switchboard.subscribe(notice, self.heard.append)
        self.switchboard.subscribe_reconnect(self._count)

    def _count(self) -> None:
        self.reconnects += 1

    async def say(self, *payloads: str) -> None:
        for payload in payloads:
            await self.database.fetch("select pg_notify('leasehold', $1)", payload)

    async def cut(self) -> None:
        """End the listening connection."""
        await self.database.fetch(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name like '%listener'"
            " and datname = current_database()"
        )


@asynccontextmanager
async def hearing(database: Database, *notices: type[Notice]) -> AsyncGenerator[Hearing]:
    bundle = Hearing(database, notices) if notices else Hearing(database)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, bundle.listener)
        await until(lambda: bundle.switchboard.listening)
        yield bundle
        nursery.cancel_scope.cancel()
    assert not bundle.switchboard.listening


async def test_what_anybody_says_reaches_those_who_asked_for_it(database: Database) -> None:
    async with hearing(database) as bundle:
        await bundle.say("wake", "wake:mail", "reap", "tick", "lost:7:2:cancelled")
        await until(lambda: len(bundle.heard) == 5)
        assert bundle.heard == [Wake(), Wake("mail"), Reap(), TickNotice(), Lost(7, 2, "cancelled")]


async def test_nonsense_is_told_once_and_ignored(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    async with hearing(database) as bundle:
        await bundle.say("drop table jobs", "", "wake:", "x" * 5000, "ping:somebody else", "tick")
        await until(lambda: bundle.heard == [TickNotice()])
    assert caplog.text.count("nobody understands") == 1
    assert "'drop table jobs'" in caplog.text


async def test_after_a_lost_connection_it_listens_anew_and_has_everybody_look(database: Database) -> None:
    async with hearing(database) as bundle:
        for reconnects in range(1, 4):
            await until(lambda reconnects=reconnects: bundle.reconnects == reconnects)
            assert bundle.switchboard.listening
            await bundle.cut()
        await until(lambda: bundle.reconnects == 4)
        await bundle.say("tick")
        await until(lambda: bundle.heard == [TickNotice()])


async def test_who_rests_has_no_connection_and_everybody_looks_when_it_begins_and_ends(database: Database) -> None:
    async with hearing(database, Lost) as bundle:
        bundle.switchboard.rest(True)
        await until(lambda: not bundle.switchboard.listening)
        await until(lambda: bundle.reconnects == 2)
        assert await database.fetch(LISTENERS) == []
        await bundle.say("lost:1:1:cancelled")
        bundle.switchboard.rest(False)
        await until(lambda: bundle.reconnects == 3)
        await bundle.say("lost:2:1:cancelled")
        await until(lambda: bundle.heard == [Lost(2, 1, "cancelled")])


async def test_in_the_process_of_a_reaper_it_never_rests(database: Database) -> None:
    switchboard = Switchboard()
    switchboard.rest(True)
    assert not switchboard.is_needed
    switchboard.subscribe(Reap, bool)
    assert switchboard.is_needed


async def test_a_connection_that_does_not_hear_itself_is_given_up_with_advice(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def say_nothing(self: Listening, channel: str, payload: str, timeout: float) -> None:
        await trio.lowlevel.checkpoint()

    monkeypatch.setattr(listener_module, "ANSWER_SECONDS", 0.05)
    monkeypatch.setattr(Listening, "notify", say_nothing)
    bundle = Hearing(database)
    with (
        trio.fail_after(PATIENCE),
        pytest.RaisesGroup(pytest.RaisesExc(DatabaseUnavailable, match="LEASEHOLD_NOTIFY=off")),
    ):
        await bundle.listener.run()
    assert (bundle.reconnects, bundle.switchboard.listening) == (0, False)


async def test_a_connection_that_dies_in_silence_is_found_out_by_its_check(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_answer(self: Listening, channel: str, timeout: float) -> None:
        raise DatabaseUnavailable

    monkeypatch.setattr(listener_module, "CHECK_SECONDS", 0.01)
    monkeypatch.setattr(Listening, "check", no_answer)
    with trio.fail_after(PATIENCE), pytest.RaisesGroup(DatabaseUnavailable):
        await Hearing(database).listener.run()


async def test_a_poll_that_found_what_should_have_been_heard_has_it_check_at_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_answer(self: Listening, channel: str, timeout: float) -> None:
        raise DatabaseUnavailable

    monkeypatch.setattr(listener_module, "CHECK_SECONDS", 3600.0)
    monkeypatch.setattr(Listening, "check", no_answer)
    bundle = Hearing(database)
    with trio.fail_after(PATIENCE), pytest.RaisesGroup(DatabaseUnavailable, flatten_subgroups=True):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bundle.listener.run)
            await until(lambda: bundle.switchboard.listening)
            bundle.switchboard.doubted.set()
