"""The handlers of `/api/workers…`."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import msgspec

from leasehold.errors import WaitTimeout
from leasehold.gateway.http.pages import Page, cursor_at, place_of
from leasehold.gateway.http.problems import UNKNOWN_COMMAND, Refusal
from leasehold.gateway.http.replies import Reply
from leasehold.gateway.resources.workers.bodies import (
    CommandBody,
    CommandParameters,
    CommandsParameters,
    GivenCommand,
    HeartbeatAnswer,
    HeartbeatBody,
    LeasesParameters,
    WorkerIdParameters,
    WorkerParameters,
    WorkersParameters,
)
from leasehold.gateway.routing.routes import Call
from leasehold.gateway.routing.services import GatewayServices
from leasehold.gateway.routing.waiting import preferred_wait
from leasehold.records.workers import CommandRecord, LeaseRecord, WorkerRecord

PREFER = "Prefer"


async def list_workers(call: Call[WorkersParameters, None]) -> Page[WorkerRecord]:
    """All workers, those alive first, as one page."""
    return Page(await call.services.client.workers.list(stopped=call.parameters.stopped))


async def show_worker(call: Call[WorkerParameters, None]) -> WorkerRecord:
    """One worker, alive or not."""
    return await call.services.client.workers.get(call.parameters.id)


async def list_leases(call: Call[LeasesParameters, None]) -> Page[LeaseRecord]:
    """The leases that workers hold, those first that run out next, as one page."""
    asked = call.parameters
    return Page(await call.services.client.workers.leases(asked.worker, most=asked.limit))


async def heartbeat(call: Call[WorkerIdParameters, HeartbeatBody]) -> HeartbeatAnswer:
    """For workers in other languages: the first heartbeat registers the worker, and each answer has the commands for it.

    Send one every 30 seconds; a worker that is silent for three minutes is shown as stale and gets no commands. A heartbeat
    with the state `stopped` signs the worker off.
    """
    client, body = call.services.client, call.body
    for each in body.acknowledged:
        await client.commands.acknowledge(body.incarnation, each.id, result=each.result, error=each.error)
    if body.state == "stopped":
        await client.workers.stop(body.incarnation)
        return HeartbeatAnswer(False, None, [])
    commands = await _beat(call.services, body)
    if commands is not None:
        return HeartbeatAnswer(False, None, commands)
    name = await client.workers.register(
        body.incarnation,
        call.parameters.id,
        host=body.host,
        pid=body.pid,
        version=body.version,
        queues=body.queues,
        kinds=body.kinds,
        slots=body.slots,
        name=body.name,
        app_version=body.app_version,
        memory_limit=body.memory_limit,
        cpu_limit=body.cpu_limit,
    )
    return HeartbeatAnswer(True, name, await _beat(call.services, body) or [])


async def list_commands(call: Call[CommandsParameters, None]) -> Page[CommandRecord]:
    """What a worker was told to do, newest first."""
    asked = call.parameters
    found = await call.services.client.commands.list(asked.id, before_id=place_of(asked.cursor), page_size=asked.limit)
    return Page(found, cursor_at(found[-1].id) if len(found) == asked.limit else None)


async def show_command(call: Call[CommandParameters, None]) -> CommandRecord:
    """A command, its state and the worker's answer."""
    worker = await call.services.client.workers.get(call.parameters.id)
    command = await call.services.client.commands.get(call.parameters.command_id)
    if command.incarnation != worker.incarnation:
        raise Refusal(UNKNOWN_COMMAND)
    return command


async def command_worker(call: Call[WorkerParameters, CommandBody]) -> Reply:
    """Tells a worker what to do. With `Prefer: wait=5` the answer comes when the worker has acknowledged the command, or
    after five seconds; 202 means not yet."""
    client, body = call.services.client, call.body
    args = msgspec.to_builtins(body.args)
    command_id = await client.workers.command(
        call.parameters.id, body.command, args, valid_for=timedelta(seconds=body.valid_for)
    )
    seconds = preferred_wait(call.headers.get(PREFER))
    command = await _answer_within(call.services, command_id, seconds or 0)
    headers = {"Location": f"/api/workers/{command.incarnation}/commands/{command_id}"}
    applied = {} if seconds is None else {"Preference-Applied": f"wait={seconds}"}
    return Reply(command, 200 if command.done_at is not None else 202, {**headers, **applied})


async def _beat(services: GatewayServices, body: HeartbeatBody) -> list[GivenCommand] | None:
    heard = await services.client.workers.heartbeat(
        body.incarnation,
        active_jobs=body.active_jobs,
        state=body.state,
        slots=body.slots,
        memory=body.memory,
        cpu=body.cpu,
        backoff=body.backoff,
        backoff_for=body.backoff_for,
        rss=body.rss,
        cpu_user=body.cpu_user,
        cpu_system=body.cpu_system,
    )
    return None if heard is None else msgspec.convert(heard, list[GivenCommand])


async def _answer_within(services: GatewayServices, command_id: int, seconds: float) -> CommandRecord:
    """The command when it is acknowledged, after `seconds`, or when the gateway stops."""
    waiting = asyncio.ensure_future(services.client.commands.wait(command_id, timeout=seconds))
    stopping = asyncio.ensure_future(services.stopping.wait())
    try:
        await asyncio.wait({waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return await waiting if waiting.done() else await services.client.commands.get(command_id)
    except WaitTimeout:
        return await services.client.commands.get(command_id)
    finally:
        waiting.cancel()
        stopping.cancel()
