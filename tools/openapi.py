"""Writes docs/openapi.json and docs/openapi-compat.json, the documents that the gateway serves, from its route table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from leasehold.gateway.route_table import ROUTES
from leasehold.gateway.routing.document import alias_document_of, document_of

DOCS = Path(__file__).parent.parent / "docs"
TARGET = DOCS / "openapi.json"
ALIAS_TARGET = DOCS / "openapi-compat.json"


def render() -> str:
    """The document for people to read."""
    return _for_people(document_of(ROUTES))


def render_aliases() -> str:
    """The document of the aliases for people to read."""
    return _for_people(alias_document_of(ROUTES))


def _for_people(document: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


if __name__ == "__main__":
    TARGET.write_text(render())
    ALIAS_TARGET.write_text(render_aliases())
