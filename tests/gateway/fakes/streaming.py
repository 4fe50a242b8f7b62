"""A client of the stream of events, which reads message by message."""

from __future__ import annotations

import http.client
import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from tests.gateway.fakes.running import RunningGateway
from tests.support.waiting import PATIENCE


class Message(msgspec.Struct, frozen=True):
    """One server-sent event. A comment is an event called `comment`."""

    event: str
    data: Any = None
    id: str | None = None


class Stream:
    """An open stream."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response
        self.headers = dict(response.headers)

    def next(self) -> Message | None:
        """The next message; None at the end."""
        fields: dict[str, str] = {}
        while line := self._response.readline().decode():
            if line == "\n":
                if fields and set(fields) != {"retry"}:
                    data = json.loads(fields["data"]) if "data" in fields else None
                    return Message(fields.get("event", "comment"), data, fields.get("id"))
                fields = {}
                continue
            name, _, value = line.rstrip("\n").partition(": ")
            fields[name or "comment"] = value
        return None

    def until(self, event: str) -> Message:
        """The next message of this type."""
        while (message := self.next()) is not None:
            if message.event == event:
                return message
        raise AssertionError(f"the stream ended without {event}")

    def changes(self, event: str, count: int) -> list[dict[str, Any]]:
        """The next changes of this type, once there are so many."""
        found: list[dict[str, Any]] = []
        while len(found) < count:
            found += [change for change in self.until("changes").data if change["event"] == event]
        return found


@contextmanager
def streaming(gateway: RunningGateway, query: str = "", headers: Mapping[str, str] | None = None) -> Generator[Stream]:
    """A stream, closed with the block."""
    connection = http.client.HTTPConnection(*gateway.address, timeout=PATIENCE)
    try:
        connection.request("GET", f"/api/events{query}", headers=dict(headers or {}))
        response = connection.getresponse()
        assert response.status == 200, response.read()
        yield Stream(response)
    finally:
        connection.close()
