"""How the files of the dashboard are served."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from os.path import normpath
from pathlib import Path

import pytest

from leasehold.gateway.serving.dashboard import FILES, VIEWS, load_assets
from leasehold.settings import Settings
from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import RunningGateway, running_gateway

VENDORED = FILES / "vendor" / "VENDORED.md"


def ask(gateway: RunningGateway, path: str, headers: dict[str, str]) -> tuple[int, Mapping[str, str], bytes]:
    answer = gateway.fetch(path, headers)
    return answer.status, answer.headers, answer.body


def test_every_view_is_one_page_that_loads_nothing_from_elsewhere() -> None:
    with running_gateway(FakeClient()) as gateway:
        for path in ("/", *(f"/{view}" for view in VIEWS), "/jobs/7", "/queues/a%2Fb", "/jobs?q=kind:x"):
            status, headers, content = ask(gateway, path, {})
            assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
            assert headers["Content-Security-Policy"].startswith("default-src 'self';")
            assert "unsafe" not in headers["Content-Security-Policy"]
            assert re.findall(rb"https?://|<style|style=|<script>", content) == []


def test_an_unknown_address_is_a_page_for_browsers_and_a_problem_for_programs() -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "X-Forwarded-Prefix": "/ops"}
    with running_gateway(FakeClient()) as gateway:
        status, headers, content = ask(gateway, "/nosuch", browser)
        assert (status, headers["Content-Type"]) == (404, "text/html; charset=utf-8")
        assert headers["Content-Security-Policy"].startswith("default-src 'self';")
        assert b'<base href="/ops/">' in content
        for path, accepts in (
            ("/nosuch", {}),
            ("/nosuch", {"Accept": "*/*"}),
            ("/api/nosuch", browser),
            ("/assets/0/x.js", browser),
        ):
            status, headers, _ = ask(gateway, path, accepts)
            assert (status, headers["Content-Type"]) == (404, "application/problem+json")


def test_assets_are_kept_for_a_year_at_addresses_that_change_with_them() -> None:
    version, _ = load_assets()
    with running_gateway(FakeClient()) as gateway:
        status, headers, content = ask(gateway, f"/assets/{version}/main.js", {"Accept-Encoding": "gzip, br"})
        assert (status, headers["Content-Encoding"]) == (200, "gzip")
        assert headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert gzip.decompress(content) == (FILES / "main.js").read_bytes()
        assert ask(gateway, f"/assets/{version}/main.js", {})[2] == (FILES / "main.js").read_bytes()
        for wrong in (f"/assets/{version}/nothing.js", "/assets/0000/main.js", f"/assets/{version}/../serve.py"):
            assert ask(gateway, wrong, {})[0] == 404


def test_the_first_page_loads_little_and_all_pages_together_not_much() -> None:
    _, assets = load_assets()
    sizes = {name: len(asset.packed) for name, asset in assets.items()}
    styles = sum(size for name, size in sizes.items() if name.startswith("styles/"))
    assert styles + sum(sizes[name] for name in loaded_with("main.js", "theme.js")) < 60_000
    assert sum(sizes.values()) < 200_000


def loaded_with(*names: str) -> set[str]:
    """These modules, and those that come with them: what is loaded when somebody opens a page is not among them."""
    found, left = set[str](), list(names)
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        for path in re.findall(r"""\b(?:from|import)\s*["'](\.[^"']+)["']""", (FILES / name).read_text()):
            left.append(Path(normpath(Path(name).parent / path)).as_posix())
    return found


@pytest.mark.parametrize(
    ("told", "base"),
    [
        ("/ops", "/ops/"),
        ("/ops/jobs/", "/ops/jobs/"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ('/"><script>', "/"),
        ("/a, /b", "/a/"),
        ("", "/"),
    ],
)
def test_a_proxy_says_below_which_path_it_shows_the_page(told: str, base: str) -> None:
    with running_gateway(FakeClient()) as gateway:
        _, _, content = ask(gateway, "/jobs/7", {"X-Forwarded-Prefix": told})
    assert f'<base href="{base}">'.encode() in content


def test_a_prefix_of_the_settings_is_taken_whether_or_not_the_proxy_takes_it_away() -> None:
    with running_gateway(FakeClient(), settings=Settings(gateway_port=0, gateway_prefix="/ops")) as gateway:
        for path in ("/jobs", "/ops/jobs", "/ops/"):
            assert b'<base href="/ops/">' in ask(gateway, path, {})[2]
        for path in ("/livez", "/ops/livez", "/ops/docs", "/ops/openapi.json"):
            assert ask(gateway, path, {})[0] == 200


def test_the_list_of_vendored_files_names_each_of_them() -> None:
    named = set(re.findall(r"^\| ([\w.-]+) \|", VENDORED.read_text(), re.MULTILINE)) - {"file"}
    assert named == {file.name for file in VENDORED.parent.iterdir() if file.suffix in {".js", ".css"}}


def test_own_modules_import_only_what_lies_here() -> None:
    for file in (file for file in FILES.rglob("*.js") if file.parent.name != "vendor"):
        for found in re.findall(r"from \"([^\"]+)\"", file.read_text()):
            assert found.startswith("."), (file, found)
            assert Path(file.parent, found).resolve().is_file(), (file, found)
