"""docs/kinds.md: an app."""

from __future__ import annotations

from leasehold import App, Unique

app = App()
SHARED = (Unique,)
