"""Schedules in code: what the type checker refuses of them, each marked with the rule that says so, and what it accepts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leasehold import App, Client, Job, Kind, NewJob

app = App()


@app.schedule(cron="0 3 * * *", zone="Europe/Berlin", missed="skip", overlap="skip")
@app.schedule(every=timedelta(hours=1), name="hourly")
@app.kind()
async def clean_up(job: Job, days: int = 30) -> int:
    return days


@app.schedule(every=60, args={"shop": 7})
@app.schedule(query="select id as shop from shops", every=14_400, stagger=timedelta(minutes=30), name="all")
@app.kind()
async def crawl(shop: int) -> str:
    return str(shop)


@app.schedule(every=60)  # refused: reportArgumentType
@app.kind()
async def needs_args(shop: int) -> None: ...


@app.schedule(evry=60)  # refused: reportCallIssue
@app.kind()
async def no_such_option() -> None: ...


@app.schedule(every=60)  # refused: reportArgumentType
async def no_kind() -> None: ...


kept: Kind[[int], int] | object = clean_up
made: NewJob[str] = crawl.new(shop=7)
app.schedule(crawl.new(7), every=60, starts_at=datetime.now(UTC))
app.schedule(clean_up, at=datetime(2030, 1, 1, tzinfo=UTC))
app.schedule(crawl, query="select 7 as shop", every=60)
app.schedule(crawl.new("seven"), every=60)  # refused: reportArgumentType
app.schedule(crawl.new(7), every="1h")  # refused: reportArgumentType
app.schedule(crawl.new(7), every=60, missed="maybe")  # refused: reportArgumentType
app.schedule(crawl, every=60)  # refused: reportArgumentType


async def with_client(client: Client) -> None:
    await client.schedules.create(crawl.new(7), name="seven", every=60)
    await client.schedules.update("seven", cron="@daily", stagger=None, args={"shop": 8})
    await client.schedules.update("seven", crn="@daily")  # refused: reportCallIssue
    await client.schedules.update("seven", kind=None)  # refused: reportArgumentType
    await client.schedules.create(crawl, name="seven", every=60)  # refused: reportArgumentType
