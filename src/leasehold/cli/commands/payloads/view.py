"""Payloads as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.views.text import ago, fields_table, plain, show_instant, table
from leasehold.payloads.diff import FieldChange
from leasehold.records.payloads import PayloadDiff, PayloadRecord

STYLES = {"added": "green", "removed": "red"}


def view_payloads(payloads: list[PayloadRecord], now: datetime) -> Sequence[RenderableType]:
    """One line each."""
    heads = ["id", "saved", "kind", "key", "job", "size", "stored", "noted"]
    rows = [
        [
            str(each.id),
            ago(each.created_at, now),
            plain(each.kind),
            plain(each.key or "-"),
            "-" if each.job_id is None else str(each.job_id),
            show_bytes(each.size),
            show_bytes(each.compressed_size),
            _json(each.metadata),
        ]
        for each in payloads
    ]
    return [table(heads, rows, right=["id", "job", "size", "stored"], cut="noted")]


def view_payload(payload: PayloadRecord, _now: datetime) -> Sequence[RenderableType]:
    """Its fields, one below the other."""
    told = {
        "id": payload.id,
        "saved": show_instant(payload.created_at),
        "kind": plain(payload.kind),
        "key": None if payload.key is None else plain(payload.key),
        "job": payload.job_id,
        "media type": plain(payload.media_type),
        "size": f"{payload.size:,} bytes, {payload.compressed_size:,} stored ({payload.codec})",
        "sha256": payload.sha256,
        "location": plain(payload.location),
        "noted": None if payload.metadata is None else _json(payload.metadata),
    }
    return [fields_table(told)]


def view_diff(diff: PayloadDiff, _now: datetime) -> Sequence[RenderableType]:
    """A sentence with the counts, then a line for each record."""
    counts = ", ".join(f"{count:,} {_words(name)}" for name, count in diff.diff.items())
    sides = f"payload {diff.before.id} ({diff.before.product_count:,} records) → {diff.after.id} ({diff.after.product_count:,})"
    rows = [_row(name, each) for name, found in diff.details.items() for each in found]
    parts: list[RenderableType] = [plain(sides), plain(counts)]
    if rows:
        parts += [Text(""), table(["what", "record", "name", "from", "to"], rows, cut="name")]
    if more := sum(diff.diff.values()) - len(rows):
        parts.append(plain(f"{more:,} more; --limit lists them"))
    return parts


def show_bytes(number: int) -> str:
    """`1.5 MB`, as people say it."""
    size = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{number} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError(number)


def _row(name: str, found: Any) -> list[RenderableType]:
    if isinstance(found, FieldChange):
        return [plain(_words(name)), _value(found.key), _value(found.name), _value(found.old), _value(found.new)]
    key, *others = found.items()
    fields = {field: value for field, value in others if field != "name"}
    shown, blank = _json(fields), Text("-")
    sides = [shown, blank] if name == "removed" else [blank, shown]
    return [plain(name, STYLES[name]), _value(key[1]), _value(found.get("name")), *sides]


def _words(name: str) -> str:
    return f"{name.removesuffix('Changes')} changed" if name.endswith("Changes") else name


def _value(value: object) -> Text:
    return plain("-" if value is None else value if isinstance(value, str) else _encoded(value))


def _json(value: object) -> Text:
    return plain("" if value is None else _encoded(value))


def _encoded(value: object) -> str:
    return msgspec.json.encode(value).decode()
