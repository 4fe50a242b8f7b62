"""Writes docs/openapi.json, the document that the gateway serves at /openapi.json, from its route table."""

from __future__ import annotations

from pathlib import Path

import msgspec

from leasehold.gateway.resources.table import ROUTES
from leasehold.gateway.routing.document import document_of

TARGET = Path(__file__).parent.parent / "docs" / "openapi.json"


def render() -> str:
    """The document for people to read."""
    return msgspec.json.format(msgspec.json.encode(document_of(ROUTES)), indent=2).decode() + "\n"


if __name__ == "__main__":
    TARGET.write_text(render())
