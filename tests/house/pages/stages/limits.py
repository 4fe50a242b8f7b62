"""docs/limits.md: a shop that is fetched."""

from leasehold import App

app = App()
url = "https://shop.example"


@app.kind()
async def fetch(url: str) -> None:
    pass
