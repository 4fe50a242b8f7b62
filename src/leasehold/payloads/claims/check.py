"""Claim checks: what stands in the row of a job in the place of args or an output that lie in the payload store."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from leasehold.errors import PayloadDamaged

WORD = "$payload"
START = '{"$payload"'
"""How the JSON of a claim check begins, and hardly anything else: a look at it costs nothing."""
MOST_KEYS = 20
MOST_TEXT = 100


class ClaimCheck(msgspec.Struct, frozen=True):
    """Which payload has the value, and what people may want to know without it.

    Attributes:
        id: of the payload. sha256: of its content; who reads compares it, so nobody can point at a payload that he has not read.
        size: bytes of the value as JSON.
        summary: of the value: small parts of it as they are, and of large ones how many there are.
    """

    id: int
    size: int
    sha256: str
    summary: Any

    def confirm(self, sha256: str) -> None:
        """Raises PayloadDamaged if the payload with this checksum is not the one that the job names."""
        if sha256 != self.sha256:
            raise PayloadDamaged(f"payload {self.id} is not the one that the job names: its checksum is another one")


class _Document(msgspec.Struct, frozen=True, rename={"check": WORD}, forbid_unknown_fields=True):
    check: ClaimCheck


def write_check(check: ClaimCheck) -> bytes:
    """The JSON that stands in the row."""
    return msgspec.json.encode(_Document(check))


def find_check(value: object) -> ClaimCheck | None:
    """The claim check that this value is, as JSON text or decoded; None: it is a value of its own."""
    try:
        if isinstance(value, str):
            return msgspec.json.decode(value, type=_Document).check if value.startswith(START) else None
        if isinstance(value, dict) and len(cast("dict[str, Any]", value)) == 1 and WORD in value:
            return msgspec.convert(value, _Document).check
    except msgspec.MsgspecError:
        return None
    return None


def summarize(content: bytes) -> Any:
    """What a person needs to know of this JSON: {"shop": 7, "products": "list of 105"}."""
    value = msgspec.json.decode(content)
    if not isinstance(value, dict):
        return _told(value)
    items = list(cast("dict[str, Any]", value).items())
    told = {_cut(name): _told(each) for name, each in items[:MOST_KEYS]}
    return told if len(items) <= MOST_KEYS else told | {"…": f"{len(items) - MOST_KEYS} more"}


def _told(value: Any) -> Any:
    match value:
        case list():
            return f"list of {len(cast('list[Any]', value))}"
        case dict():
            return f"object of {len(cast('dict[str, Any]', value))}"
        case str():
            return _cut(value)
        case _:
            return value


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "…"
