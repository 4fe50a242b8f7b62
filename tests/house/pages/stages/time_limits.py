"""docs/time-limits.md: an app and a clock."""

from datetime import UTC, datetime

from leasehold import App

app = App()
SHARED = (UTC, datetime)
