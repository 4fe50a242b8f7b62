"""Libraries on asyncio: anyio, httpx, aiohttp, asyncpg, psycopg, SQLAlchemy, redis, asgiref, Django."""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import threading
from typing import Any

import aiohttp
import anyio
import anyio.from_thread
import anyio.to_thread
import asyncpg
import httpx
import psycopg
import redis.asyncio
import sqlalchemy
from asgiref.sync import async_to_sync, sync_to_async
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

from tests.support.uses import never, soon, use, wrong

PLACES = {"database": "", "page": "", "redis": ""}
"""Of a database, of a page that answers `page`, or never below /slow, and of a server that speaks Redis."""


@use
async def anyio_group() -> Any:
    got: list[int] = []

    async def add(n: int) -> None:
        got.append(await soon(n))

    async with anyio.create_task_group() as group:
        for n in range(3):
            group.start_soon(add, n)
    return sorted(got)


@use
async def anyio_group_that_fails() -> Any:
    said: list[str] = []
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(never)
            group.start_soon(wrong)
    except* ValueError as errors:
        said += [str(each) for each in errors.exceptions]
    return said


@use
async def anyio_children_that_have_not_begun() -> Any:
    async with anyio.create_task_group() as group:
        group.start_soon(never)
        group.cancel_scope.cancel()
    return group.cancel_scope.cancelled_caught


@use
async def anyio_started() -> Any:
    async def begin(*, task_status: anyio.abc.TaskStatus[str]) -> None:
        task_status.started("begun")
        await never()

    said: list[str] = []
    async with anyio.create_task_group() as group:
        said.append(await group.start(begin))
        group.cancel_scope.cancel()
    return said


@use
async def anyio_scopes() -> Any:
    with anyio.move_on_after(0.01) as scope:
        await never()
    with anyio.CancelScope(shield=True):
        await soon()
    return scope.cancelled_caught


@use
async def anyio_fails_after() -> Any:
    with anyio.fail_after(0.01):
        await never()


@use
async def anyio_streams() -> Any:
    sender, receiver = anyio.create_memory_object_stream[int](2)
    async with sender, receiver:
        await sender.send(1)
        sender.send_nowait(2)
        return [await receiver.receive(), await receiver.receive()]


@use
async def anyio_events_and_locks() -> Any:
    event, lock, limiter = anyio.Event(), anyio.Lock(), anyio.CapacityLimiter(1)
    async with anyio.create_task_group() as group, lock, limiter:
        group.start_soon(soon)
        event.set()
        await event.wait()
    return [lock.locked(), limiter.borrowed_tokens]


@use
async def anyio_threads() -> Any:
    def there() -> list[Any]:
        back = anyio.from_thread.run(soon, "back")
        return [back, anyio.from_thread.run_sync(threading.get_ident) != threading.get_ident()]

    return await anyio.to_thread.run_sync(there)


@use
async def anyio_portal() -> Any:
    def there() -> Any:
        with anyio.from_thread.start_blocking_portal() as portal:
            return portal.call(soon, "portal")

    return await asyncio.to_thread(there)


@use
async def anyio_program() -> Any:
    return (await anyio.run_process(["echo", "said"])).stdout.decode()


@use
async def httpx_client() -> Any:
    async with httpx.AsyncClient() as client:
        both = await asyncio.gather(*(client.get(PLACES["page"]) for _ in range(2)))
    return [each.text for each in both]


@use
async def httpx_timeout() -> Any:
    async with httpx.AsyncClient(timeout=httpx.Timeout(60, read=0.05)) as client:
        try:
            await client.get(f"{PLACES['page']}slow")
        except httpx.ReadTimeout as error:
            return type(error).__name__


@use
async def httpx_cancelled() -> Any:
    async with httpx.AsyncClient(timeout=60) as client:
        try:
            async with asyncio.timeout(0.05):
                await client.get(f"{PLACES['page']}slow")
        except TimeoutError:
            return (await client.get(PLACES["page"])).text


@use
async def aiohttp_client() -> Any:
    async with aiohttp.ClientSession() as session, session.get(PLACES["page"]) as response:
        return [response.status, await response.text()]


@use
async def aiohttp_timeout() -> Any:
    timeout = aiohttp.ClientTimeout(total=0.05)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        try:
            await session.get(f"{PLACES['page']}slow")
        except TimeoutError:
            return "too slow"


@use
async def asyncpg_connection() -> Any:
    connection = await asyncpg.connect(PLACES["database"])
    try:
        return await connection.fetchval("select $1::int + 1", 1)
    finally:
        await connection.close()


@use
async def asyncpg_pool() -> Any:
    async with asyncpg.create_pool(PLACES["database"], min_size=1, max_size=2) as pool:
        return await asyncio.gather(*(pool.fetchval("select $1::int", n) for n in range(4)))


@use
async def asyncpg_cancelled() -> Any:
    connection, begun = await asyncpg.connect(PLACES["database"]), asyncio.Event()

    def tell(*_notice: object) -> None:
        begun.set()

    await connection.execute("set client_min_messages = notice")
    connection.add_log_listener(tell)  # Postgres ignores a cancel that overtakes its statement
    try:
        sleeping = asyncio.create_task(connection.execute("do $$ begin raise notice ''; perform pg_sleep(600); end $$"))
        await begun.wait()
        sleeping.cancel()
        await asyncio.wait([sleeping])
        return [sleeping.cancelled(), await connection.fetchval("select 'again'")]
    finally:
        await connection.close()


@use
async def psycopg_connection() -> Any:
    async with await psycopg.AsyncConnection.connect(PLACES["database"]) as connection:
        return [row async for row in await connection.execute("select 1, 'two'")]


@use
async def psycopg_transactions() -> Any:
    async with await psycopg.AsyncConnection.connect(PLACES["database"]) as connection:
        async with connection.transaction(force_rollback=True):
            await connection.execute("create table gone ()")
        cursor = await connection.execute("select to_regclass('gone') is null")
        return await cursor.fetchone()


@use
async def sqlalchemy_engine() -> Any:
    engine = create_async_engine(PLACES["database"].replace("postgresql:", "postgresql+asyncpg:"))
    async with engine.begin() as connection:
        found = await connection.scalar(sqlalchemy.text("select 3"))
    await engine.dispose()
    return found


@use
async def sqlalchemy_session() -> Any:
    engine = create_async_engine(PLACES["database"].replace("postgresql:", "postgresql+psycopg:"))
    async with AsyncSession(engine) as session:
        found = await session.run_sync(lambda inner: inner.scalar(sqlalchemy.text("select 4")))
    await engine.dispose()
    return found


def redis_connections() -> Any:
    """Without the time limit of reads, five seconds, with which the library may swallow a cancellation."""
    return redis.asyncio.from_url(PLACES["redis"], decode_responses=True, socket_timeout=None)


@use
async def redis_client() -> Any:
    async with redis_connections() as client:
        await client.set("word", "kept")
        async with client.pipeline(transaction=True) as pipeline:
            for _ in range(2):
                pipeline.incr("count")
            pipeline.delete("count")
            counted = await pipeline.execute()
        return [await client.get("word"), counted, await asyncio.gather(*(client.echo(str(n)) for n in range(4)))]


@use
async def redis_messages() -> Any:
    async with redis_connections() as client, client.pubsub() as heard:
        await heard.subscribe("news")
        said: list[Any] = []
        async for message in heard.listen():
            said.append([message["type"], message["data"]])
            if message["type"] == "message":
                break
            await client.publish("news", "heard")
        return said


@use
async def redis_waits() -> Any:
    async with redis_connections() as client:
        waiting = asyncio.ensure_future(client.blpop(["line"], timeout=60))
        await client.rpush("line", "first")
        return [await waiting, await client.blpop(["line"], timeout=0.05)]


@use
async def redis_cancelled() -> Any:
    async with redis_connections() as client:
        await client.ping()
        waiting = asyncio.ensure_future(client.blpop(["nothing"], timeout=60))
        for n in range(4):  # it has begun to wait
            await client.echo(str(n))
        waiting.cancel()
        try:
            return await waiting
        except asyncio.CancelledError:
            return await client.ping()


@use
async def asgiref_sync_to_async() -> Any:
    return [await sync_to_async(sum)([1, 2]), await sync_to_async(sum, thread_sensitive=False)([3, 4])]


@use
async def asgiref_both_ways() -> Any:
    return await sync_to_async(lambda: async_to_sync(soon)("there and back"))()


@use
async def django_models() -> Any:
    from django.contrib.contenttypes.models import ContentType

    made = await ContentType.objects.aget_or_create(app_label="uses", model="one")
    kept = [each.model async for each in ContentType.objects.filter(app_label="uses")]
    gone, _ = await ContentType.objects.filter(app_label="uses").adelete()
    return [made[1], kept, gone, await ContentType.objects.filter(app_label="uses").acount()]


@use
async def django_signals() -> Any:
    from django.dispatch import Signal

    told, heard = Signal(), list[str]()

    async def hear(**said: Any) -> None:
        heard.append(await soon(said["word"]))

    told.connect(hear)
    await told.asend(None, word="heard")
    return heard
