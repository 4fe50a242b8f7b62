"""Faults that come as work: jobs that harm their worker, herds, requests that never end."""

from __future__ import annotations

import trio

from faults.inject.stage import Stage, Targets


async def block_loop(stage: Stage) -> Targets:
    await stage.clients.ask(stage.mix.alone("block_loop", seconds=stage.hold))
    await stage.wait()
    return ()


async def hang_keeper(stage: Stage) -> Targets:
    await stage.clients.ask(stage.mix.alone("hang_keeper"))
    return ()


async def poison(stage: Stage) -> Targets:
    await stage.clients.ask(stage.mix.alone("poison", how=stage.dice.choice(["exit", "abort", "segfault"])))
    return ()


async def herd(stage: Stage) -> Targets:
    await stage.clients.ask(stage.mix.herd(2000, 1.0))
    return ()


async def slowloris(stage: Stage) -> Targets:
    gateway = stage.fleet.gateway
    port = int(gateway.env["GATEWAY_URL"].rpartition(":")[2])
    streams: list[trio.SocketStream] = []
    try:
        for _ in range(50):
            stream = await trio.open_tcp_stream("127.0.0.1", port)
            streams.append(stream)
            await stream.send_all(b"POST /api/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n{")
        await stage.wait()
    except OSError:
        pass  # the gateway is away for another reason
    finally:
        for stream in streams:
            await trio.aclose_forcefully(stream)
    return (gateway.process,)
