"""Kinds of leasehold's own, beside the tasks."""

from __future__ import annotations

from leasehold import App

app = App()


@app.kind()
async def own_kind(name: str) -> str:
    return f"hello {name}"
