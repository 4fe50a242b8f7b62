"""docs/job-ends.md: files of a folder, of which there are soon more."""

from __future__ import annotations

from types import ModuleType

from leasehold import App, Client, Job

app = App()
WORKER = True
SHARED = (Job,)


def list_files(folder: str) -> list[str]:
    return [f"{folder}/a", f"{folder}/bc"]


@app.kind()
async def measure(path: str) -> int:
    return len(path)


async def after(page: ModuleType, client: Client) -> None:
    assert await client.wait(await client.enqueue(page.report.new("x"))) == 7
