"""docs/observability.md: subscribers, and an app that is traced."""

from __future__ import annotations

from typing import Any

from leasehold import App

app = App()
OPENED = True
told: list[Any] = []


def alert(kind: str, message: str) -> None:
    told.append((kind, message))


def on_completed(event: object) -> None:
    told.append(event)
