"""Mappings: how the tables of another queue are read. They are TOML or JSON; the ready ones lie in `mappings/`."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from leasehold.errors import BadInput
from leasehold.validation import refusal

READY = ("celery_beat", "crawl_jobs", "django_tasks_db", "pgqueuer", "procrastinate", "worker_tasks")
"""The names of the ready mappings."""
SCHEMA = re.compile(r"[a-z_][a-z0-9_]*")
NAMES = ("kinds", "queues", "positional")


def load_mapping(place: str, schema: str = "public") -> dict[str, Any]:
    """Read a mapping, with `{schema}` in it filled in; its SQL finds names in that schema unless it says otherwise.

    Args:
        place: the name of a ready one, or the path of a .toml or .json file.
        schema: in which the other queue has its tables: lower case letters, digits and _.

    Raises:
        BadInput: there is no such mapping, it cannot be read, or the schema has another character.
    """
    if not SCHEMA.fullmatch(schema):
        raise refusal("schema", "lower case letters, digits and _", schema)
    text = _read(place).replace("{schema}", schema)
    decode = msgspec.json.decode if place.endswith(".json") else msgspec.toml.decode
    try:
        return {"search_path": schema, **decode(text, type=dict[str, Any])}
    except msgspec.DecodeError as error:
        raise BadInput(f"the mapping {place} cannot be read: {error}") from error


def with_names(mapping: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    """The mapping with further kinds, queues and positional args; those given here win.

    Raises:
        BadInput: `names` has something else in it.
    """
    if other := sorted(set(names) - set(NAMES)):
        raise BadInput(f"names have {', '.join(NAMES)}, not {other[0]}")
    return mapping | {each: {**mapping.get(each, {}), **names[each]} for each in names}


def _read(place: str) -> str:
    if place in READY:
        return files("leasehold.moving").joinpath("mappings", f"{place}.toml").read_text("utf-8")
    path = Path(place)
    if path.suffix not in (".toml", ".json"):
        raise BadInput(
            f"there is no mapping {place!r}; ready are {', '.join(READY)}, and a file ends in .toml or .json"
        )
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the mapping {place} cannot be read: {error}") from error
