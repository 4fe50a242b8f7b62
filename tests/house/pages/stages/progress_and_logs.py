"""docs/progress-and-logs.md: a catalogue, and a handler of logging."""

from __future__ import annotations

import logging
from types import ModuleType, SimpleNamespace

from leasehold import App, Client, Job
from tests.support.waiting import eventually

app = App()
handler = logging.StreamHandler()
WORKER = True
SHARED = (Job,)


async def fetch(url: str) -> list[SimpleNamespace]:
    return [SimpleNamespace(price=1), SimpleNamespace(price=None)]


async def after(page: ModuleType, client: Client) -> None:
    job_id = await client.enqueue(page.import_catalogue.new("https://shop.example"))
    await client.wait(job_id)
    (line,) = await eventually(lambda: client.jobs.logs(job_id))  # written apart from the outcome
    assert line.message == "row 1 has no price"
