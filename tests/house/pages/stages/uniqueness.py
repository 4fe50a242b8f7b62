"""docs/uniqueness.md: an app."""

from __future__ import annotations

from leasehold import QUEUED, App, Job

app = App()
SHARED = (QUEUED, Job)


@app.kind()
async def index(document: int) -> None:
    pass


@app.kind()
async def remind(user: int) -> None:
    pass
