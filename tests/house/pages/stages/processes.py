"""docs/processes.md: a picture."""

from leasehold import App

app = App()
Thumbnail = str
