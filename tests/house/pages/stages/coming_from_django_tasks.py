"""docs/coming-from-django-tasks.md: a bank, and a project with a database."""

from __future__ import annotations

from types import ModuleType

from benchmarks.owned import close_in_django, tell_django
from leasehold import Client
from leasehold.concurrency.flavours import in_thread

TABLES = "create table orders (id int)"
WORKER = True


def ask_bank(order_id: int) -> str:
    return f"receipt {order_id}"


async def after(page: ModuleType, client: Client) -> None:
    def buy() -> None:
        tell_django(page.dsn, "default")
        try:
            page.buy(7)
        finally:
            close_in_django("default")

    await in_thread(buy)
    [job] = await client.jobs.list()
    assert await client.wait(job.id) == "receipt 7"
