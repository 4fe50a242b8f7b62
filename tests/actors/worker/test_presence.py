from __future__ import annotations

from collections.abc import Callable

import msgspec
import trio

from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.leases.poll import ASLEEP_AFTER, PollDecay, SharedPoll
from leasehold.actors.supervise import supervise
from leasehold.actors.worker.presence import About, Presence, Vitals, WorkerCommand, package_version
from leasehold.client import Client
from leasehold.database import Database
from leasehold.records.workers import WorkerRecord
from tests.support.callers import FragileCaller
from tests.support.held import NoTurns
from tests.support.waiting import eventually

READY = Vitals(state="ready", active_jobs=2, slots=4, listening=True, memory=0.5, cpu=0.25)
DRAINING = msgspec.structs.replace(READY, state="draining")


def presence_of(database: Database, identity: WorkerIdentity, vitals: Callable[[], Vitals] = lambda: READY) -> Presence:
    return Presence(database, identity, About(kinds=["echo"], host="here"), 60.0, vitals)


def an_identity() -> WorkerIdentity:
    return WorkerIdentity("w1", queues=("mail",))


async def test_a_worker_is_shown_from_its_start_to_its_end(database: Database) -> None:
    client, identity = Client(database), an_identity()
    shows = [READY]
    presence = presence_of(database, identity, lambda: shows[-1])
    await presence.register()
    [shown] = await client.workers.list()
    assert (shown.worker_id, shown.incarnation, shown.queues, shown.kinds) == (
        "w1",
        identity.incarnation,
        ["mail"],
        ["echo"],
    )
    assert (shown.slots, shown.state, shown.version) == (4, "ready", package_version())
    assert (shown.host, shown.name) == ("here", presence.worker_name)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, presence)

        async def beaten() -> WorkerRecord | None:
            [now] = await client.workers.list()
            return now if now.heartbeat_at > shown.heartbeat_at and (now.memory, now.cpu) == (0.5, 0.25) else None

        await eventually(beaten)
        shows.append(DRAINING)
        presence.beat_soon()

        async def draining() -> bool:
            return [worker.state for worker in await client.workers.list()] == ["draining"]

        await eventually(draining)
        nursery.cancel_scope.cancel()
    await presence.leave()
    assert await client.workers.list() == []


async def test_a_worker_whose_row_was_deleted_registers_again(database: Database) -> None:
    client, identity = Client(database), an_identity()
    presence = presence_of(database, identity)
    await presence.register()
    await database.fetch("delete from leasehold.workers")
    await presence.beat()
    assert [worker.incarnation for worker in await client.workers.list()] == [identity.incarnation]


async def test_a_draining_worker_that_registers_again_is_soon_shown_as_draining(database: Database) -> None:
    client = Client(database)
    presence = presence_of(database, an_identity(), lambda: DRAINING)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, presence)

        async def draining() -> bool:
            return [worker.state for worker in await client.workers.list()] == ["draining"]

        await eventually(draining)
        nursery.cancel_scope.cancel()


async def test_a_worker_says_how_often_it_beats_and_how_many_wake_ups_it_has_lost(database: Database) -> None:
    presence = presence_of(database, an_identity(), lambda: msgspec.structs.replace(READY, lost_wake_ups=4))
    await presence.register()
    await presence.beat()
    [row] = await database.fetch("select heartbeat_seconds, lost_wake_ups from leasehold.workers")
    assert tuple(row) == (60.0, 4)


async def test_two_starts_under_one_name_are_two_workers(database: Database) -> None:
    for _ in range(2):
        await presence_of(database, an_identity()).register()
    shown = await Client(database).workers.list()
    assert [worker.worker_id for worker in shown] == ["w1", "w1"]
    assert len({worker.incarnation for worker in shown}) == 2


async def test_a_command_whose_acknowledgement_got_lost_is_carried_out_once(database: Database) -> None:
    client, identity = Client(database), an_identity()
    caller = FragileCaller(database)
    done: list[int] = []

    async def carry_out(command: WorkerCommand) -> object:
        done.append(command.id)
        if command.command == "resume":
            raise ZeroDivisionError("by nothing")
        return {"n": len(done)}

    presence = Presence(caller, identity, About(kinds=[], host="h"), 60.0, lambda: READY, carry_out)
    await presence.register()
    numbers = [await client.workers.command("w1", name) for name in ("pause", "resume")]
    caller.lose_request.add("acknowledge_command")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, presence)
        answers = [await client.commands.wait(number) for number in numbers]
        nursery.cancel_scope.cancel()
    assert done == numbers
    assert [(each.state, each.result, each.error) for each in answers] == [
        ("done", {"n": 1}, None),
        ("failed", None, "ZeroDivisionError: by nothing"),
    ]


async def test_a_command_that_ends_the_worker_at_once_is_acknowledged_nevertheless(database: Database) -> None:
    client = Client(database)
    async with trio.open_nursery() as nursery:

        async def carry_out(_command: WorkerCommand) -> object:
            nursery.cancel_scope.cancel()
            return "draining"

        presence = Presence(database, an_identity(), About(kinds=[], host="h"), 60.0, lambda: READY, carry_out)
        await presence.register()
        number = await client.workers.command("w1", "decommission")
        nursery.start_soon(supervise, presence)
    await presence.leave()
    shown = await client.commands.wait(number)
    assert (shown.state, shown.result) == ("done", "draining")


async def test_a_heartbeat_that_a_poll_took_along_need_not_be_sent_again(database: Database) -> None:
    identity = an_identity()
    presence = presence_of(database, identity)
    await presence.register()
    look = SharedPoll(database, identity, PollDecay(5.0), NoTurns())
    look.carry(presence)
    await look.ask()
    [shown] = await Client(database).workers.list()
    assert (shown.slots, shown.memory) == (4, 0.5)
    assert presence.ask(PollDecay(5.0)) == {}
    assert presence.ask(PollDecay(60.0)) != {}


async def test_a_command_of_which_a_poll_learns_is_carried_out_by_a_heartbeat(database: Database) -> None:
    client, identity = Client(database), an_identity()

    async def carry_out(command: WorkerCommand) -> object:
        return command.command

    presence = Presence(database, identity, About(kinds=[], host="h"), 600.0, lambda: READY, carry_out)
    await presence.register()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, presence)
        await eventually(lambda: _has_beaten(presence))
        number = await client.workers.command("w1", "pause")
        look = SharedPoll(database, identity, PollDecay(600.0), NoTurns())
        look.carry(presence)
        await look.ask()
        assert (await client.commands.wait(number)).result == "pause"
        nursery.cancel_scope.cancel()


async def test_a_worker_whose_row_is_gone_learns_of_it_by_a_poll_and_registers_again(database: Database) -> None:
    identity = an_identity()
    presence = Presence(database, identity, About(kinds=[], host="h"), 600.0, lambda: READY)
    await presence.register()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, presence)
        await eventually(lambda: _has_beaten(presence))
        await database.fetch("delete from leasehold.workers")
        look = SharedPoll(database, identity, PollDecay(600.0), NoTurns())
        look.carry(presence)
        await look.ask()

        async def is_back() -> bool:
            return len(await Client(database).workers.list()) == 1

        await eventually(is_back)
        nursery.cancel_scope.cancel()


async def _has_beaten(presence: Presence) -> bool:
    return presence.ask(PollDecay(0.0)) == {}


async def test_what_changes_while_a_poll_has_a_heartbeat_with_it_is_said_again(database: Database) -> None:
    """Else a worker that has begun to listen may be shown as deaf until its next heartbeat, and nobody wakes it."""
    identity, shows = an_identity(), [msgspec.structs.replace(READY, listening=False)]
    presence = Presence(database, identity, About(kinds=[], host="h"), 600.0, lambda: shows[-1])
    await presence.register()
    caller = FragileCaller(database)
    caller.before = lambda _: shows.append(READY)
    look = SharedPoll(caller, identity, PollDecay(600.0), NoTurns())
    look.carry(presence)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, presence)
        await eventually(lambda: _has_beaten(presence))
        await look.ask()
        await eventually(lambda: database.fetch("select from leasehold.workers where listening"))
        nursery.cancel_scope.cancel()


async def test_a_worker_that_is_asleep_beats_more_rarely_and_says_so(database: Database) -> None:
    identity, now = an_identity(), 0.0
    presence = Presence(database, identity, About(kinds=[], host="h"), 30.0, lambda: READY)
    await presence.register()
    poll = PollDecay(5.0, clock=lambda: now)
    poll.share(5.0, workers=500, heartbeat=30.0)
    look = SharedPoll(database, identity, poll, NoTurns())
    look.carry(presence)

    async def promised() -> object:
        [row] = await database.fetch("select heartbeat_seconds from leasehold.workers")
        return row["heartbeat_seconds"]

    await look.ask()
    assert await promised() == 30.0
    now = ASLEEP_AFTER
    await look.ask()
    assert await promised() == 60.0
    await presence.beat()
    assert await promised() == 30.0
