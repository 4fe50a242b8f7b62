"""docs/http-api.md: its examples answer what it says."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from urllib.parse import quote

from tests.gateway.fakes.running import RunningGateway, running_service
from tools.tables import DOCS

PAGE = (DOCS / "http-api.md").read_text()
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d(:?\d\d)?)?")
MASKS = (
    (re.compile(r'"request_id":"\w+"'), '"request_id":"ID"'),
    (TIME, "TIME"),
    (re.compile(r"in [\d.]+ s\b"), "in 60 s"),
)


def test_its_examples_answer_what_it_says(database_url: str) -> None:
    with running_service(database_url) as gateway:
        found = list(examples(PAGE))
        assert len(found) > 15
        for command, expected in found:
            assert masked(send(gateway, command)) == expected, command


def examples(page: str) -> Iterator[tuple[str, str]]:
    """Each command with the line below it."""
    for block in re.findall(r"^```\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        lines = block.splitlines()
        yield from zip((line.removeprefix("$ ") for line in lines[::2]), lines[1::2], strict=True)


def masked(text: str) -> str:
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text


def send(gateway: RunningGateway, command: str) -> str:
    """What curl would print, as far as the page needs curl."""
    words = iter(shlex.split(command))
    assert next(words) == "curl"
    method, address, data, in_query = None, "", list[str](), False
    headers: dict[str, str] = {}
    for word in words:
        match word:
            case "-s":
                pass
            case "-G":
                in_query = True
            case "-X":
                method = next(words)
            case "-H":
                name, _, value = next(words).partition(": ")
                headers[name.title()] = value
            case "-d":
                data.append(next(words))
            case "--data-urlencode":
                name, _, value = next(words).partition("=")
                data.append(f"{name}={quote(value)}")
            case _:
                address = word.removeprefix("localhost:8420")
                assert address.startswith("/"), word
    if in_query:
        return _text(gateway, "GET", f"{address}?{'&'.join(data)}", None, headers)
    return _text(gateway, method or ("POST" if data else "GET"), address, data[0].encode() if data else None, headers)


def _text(gateway: RunningGateway, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> str:
    answer = gateway.call(method, path, body, headers)
    return json.dumps(answer.body, separators=(",", ":"), ensure_ascii=False)
