"""docs/workers.md: an app with a kind."""

from leasehold import App

app = App()


@app.kind()
async def greet(name: str) -> str:
    return f"Hello, {name}!"
