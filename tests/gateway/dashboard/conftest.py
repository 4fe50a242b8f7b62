"""The dashboard in the system's Chromium: one browser for this folder, a fresh profile for each test.

Every test also fails if the page wrote an error to the console or broke its content security policy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.conftest import Psql
from tests.gateway.fakes.running import RunningGateway, running_service
from tests.support.waiting import PATIENCE
from tools.chromium import MISSING, find_chromium

ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
PATIENCE_MILLISECONDS = PATIENCE * 1000
REFUSAL = "Failed to load resource: the server responded with a status of 4"
TOASTS = Path(__file__).parents[3] / "gateway" / "dashboard" / "parts" / "toasts.js"
[GOOD_MILLISECONDS] = re.findall(r"GOOD_MILLISECONDS = (\d+)", TOASTS.read_text())
STAYING = f"""(() => {{
    const plain = window.setTimeout;
    window.setTimeout = (work, after, ...given) => (after === {GOOD_MILLISECONDS} ? 0 : plain(work, after, ...given));
}})()"""
"""What went well is said for some seconds only; a test that is slow to look sees it all the same."""
REPORT = pytest.StashKey[bool]()

expect.set_options(timeout=PATIENCE_MILLISECONDS)

At = Callable[[str], str]
OpenPage = Callable[..., Page]
Run = Callable[[str], object]
Serve = Callable[..., RunningGateway]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[REPORT] = report.failed
    return report


@pytest.fixture(scope="package")  # not longer: its driver keeps a loop in this thread
def browser() -> Generator[Browser]:
    found = find_chromium()
    if found is None:
        pytest.fail(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def serve(database_url: str) -> Generator[Serve]:
    """Starts gateways with these settings. They stop after the pages are closed, which else complain that nobody answers."""
    with ExitStack() as gateways:

        def start(**settings: Any) -> RunningGateway:
            return gateways.enter_context(running_service(database_url, **settings))

        yield start


@pytest.fixture
def gateway(serve: Serve) -> RunningGateway:
    """A gateway without tokens: whoever is on this machine may do everything."""
    return serve()


@pytest.fixture
def open_page(serve: Serve, browser: Browser, request: pytest.FixtureRequest, tmp_path: Path) -> Generator[OpenPage]:
    """Opens pages at addresses of what `serve` has started; at the end none of them may have complained.

    With `refusals`, the gateway may refuse what the page asks for, of which Chromium writes a line.
    """
    complaints: list[str] = []
    pages: list[Page] = []

    def listen(refusals: bool, said: ConsoleMessage) -> None:
        if said.type == "error" and not (refusals and REFUSAL in said.text):
            complaints.append(f"{said.text} {said.location}")

    def open_one(url: str, *, refusals: bool = False, **options: object) -> Page:
        context = browser.new_context(**options)  # pyright: ignore[reportArgumentType]
        context.add_init_script(STAYING)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MILLISECONDS)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", partial(listen, refusals))
        pages.append(page)
        page.goto(url)
        return page

    yield open_one
    if request.node.stash.get(REPORT, True):
        for number, page in enumerate(pages):
            page.screenshot(path=tmp_path / f"failed-{number}.png", full_page=True)
            print(f"screenshot: {tmp_path}/failed-{number}.png; console: {complaints}")
    for page in pages:
        page.context.close()
    assert complaints == []


@pytest.fixture
def at(gateway: RunningGateway) -> At:
    """The address of a path of the gateway."""
    return gateway.url


@pytest.fixture
def run(database_url: str, psql: Psql) -> Run:
    """Runs SQL in the database of the gateway."""
    return partial(psql, database_url)


def sign_in(page: Page, token: str) -> None:
    """Fill in the form that is there for whoever has shown no token yet."""
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
