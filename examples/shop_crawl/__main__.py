"""`python -m examples.shop_crawl [SHOPS] [PRODUCTS]`: three rounds over all shops, two workers killed, everything counted."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import trio

from examples.backstage import Backstage, show

from . import app
from .catalogue import STATES, Scale
from .counting import compare_rounds, count_effects, replay_first_payload
from .handlers import ADDRESS, QUEUE
from .progress import Screen, count_of, look, open_screen
from .server import ShopApi, open_shops

SCHEMA = Path(__file__).with_name("schema.sql")
SHOPS, PRODUCTS = 50, 200
IDENTITIES = 12
WORKERS = ("worker.1", "worker.2", "worker.3")
LOCALES = ("en-US", "de-DE", "fr-FR", "es-ES")
LOOK_SECONDS = 0.2
KILLED_IN = (1, 2)
"""The rounds in which a worker is killed, while it waits for a shop."""
SCHEDULES = {"store_discovery_shop", "payload_fetch_all", "analytics_refresh"}
HOLDERS = (
    "select worker_id from leasehold.jobs where state = 'running' and kind <> 'fetch_image' order by started_at desc"
)
NEWEST = "select id, refreshed_payload from crawl.stores"


async def perform(stage: Backstage) -> None:
    """Start the shops and the processes, crawl three times, count."""
    given = [int(each) for each in sys.argv[1:3]]
    scale = Scale(*given, *(SHOPS, PRODUCTS)[len(given) :])
    with open_shops(scale) as shops:
        await prepare(stage, shops)
        await stage.start(*WORKERS, "reaper", "scheduler", queues=[QUEUE])
        await stage.until("the schedules to be declared", lambda: _are_declared(stage))
        stage.say(f"three workers, {IDENTITIES} egress identities; {scale.shops} shops × {scale.products} products")
        rounds = await crawl(stage, shops)
        await count_effects(stage, shops, killed=len(KILLED_IN))
        await compare_rounds(stage, shops, rounds[1], rounds[2])
        await replay_first_payload(stage, rounds[0])


async def _are_declared(stage: Backstage) -> bool:
    return {each.name for each in await stage.client.schedules.list()} >= SCHEDULES


async def prepare(stage: Backstage, shops: ShopApi) -> None:
    """Make the tables, the payload store, the identities and the limit of the host."""
    store = stage.place.folder / "payloads"
    stage.environ |= {ADDRESS: shops.url, "LEASEHOLD_PAYLOADS_STORE": str(store)}
    async with stage.client.transaction() as tx:
        await tx.execute(SCHEMA.read_text())
    for number in range(IDENTITIES):
        await stage.client.egress.add(
            f"shopper-{number + 1}",
            locale=LOCALES[number % len(LOCALES)],
            user_agent=f"shopper-{number + 1}",
            cool_seconds=0.5,
        )
    await stage.client.queues.set_limit(QUEUE, "*", rate=400, burst=40, max_running=IDENTITIES)


async def crawl(stage: Backstage, shops: ShopApi) -> list[dict[int, int]]:
    """Three rounds. In the first two a worker is killed. Returns the payload of each store in each round."""
    rounds: list[dict[int, int]] = []
    with open_screen() as screen:
        for number in (1, 2, 3):
            shops.round = number
            since = max(rounds[-1].values()) if rounds else 0
            shops.is_slow = number in KILLED_IN
            await begin(stage, number)
            await watch(stage, screen, shops, since)
            async with stage.client.transaction() as tx:
                rounds.append({row["id"]: row["refreshed_payload"] for row in await tx.fetch(NEWEST)})
            [summed_up] = (await stage.client.schedules.trigger("analytics_refresh")).job_ids
            await stage.client.wait(summed_up, timeout=120)
    return rounds


async def begin(stage: Backstage, number: int) -> None:
    """Fetch the stores that are known, by the schedule or state by state from the table; then look for new ones."""
    if number == 2:
        await stage.client.schedules.trigger("payload_fetch_all")
    elif number == 3:
        for state in STATES:
            await stage.client.schedules.enqueue_rows("payload_fetch_all", metadata={"state_code": state})
    await stage.client.schedules.trigger("store_discovery_shop")


async def watch(stage: Backstage, screen: Screen, shops: ShopApi, since: int) -> None:
    """Show the round until all its jobs have ended; while the shops are slow, kill a worker that runs something."""
    of = shops.truth().stores
    async with trio.open_nursery() as nursery:
        while (stand := await look(stage.client, since)).open:
            stage.troupe.check()
            screen.show(shops.round, stand, of)
            if shops.is_slow and (heir := await _kill_a_worker(stage, screen)):
                nursery.start_soon(partial(stage.start, heir, queues=[QUEUE]))
                shops.is_slow = False
            await trio.sleep(LOOK_SECONDS)
        screen.show(shops.round, stand, of)


async def _kill_a_worker(stage: Backstage, screen: Screen) -> str | None:
    """SIGKILL to a worker that runs a job. Returns the name of the one that takes its place; None while nobody runs any."""
    async with stage.client.transaction() as tx:
        holders = [row["worker_id"] for row in await tx.fetch(HOLDERS)]
    alive = [name for name in holders if stage.troupe.players[name].is_alive]
    if not alive:
        return None
    await stage.troupe.players[alive[0]].kill()
    heir = f"worker.{len(stage.troupe.workers) + 1}"
    screen.say(
        f"         {alive[0]} runs {count_of(holders.count(alive[0]), 'job')} and gets SIGKILL; {heir} takes its place"
    )
    return heir


if __name__ == "__main__":
    print("  0.0 s  looking for Postgres, or starting one", flush=True)
    show(app, "examples.shop_crawl:app", perform)
