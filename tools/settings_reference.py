"""Writes docs/settings.md from the settings themselves: every field, its variable, default, limits and other names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from msgspec import Meta

from leasehold.settings.settings import TYPES, Settings, describe_setting, show_value
from leasehold.settings.sources import ALIASES, CONFIG_VARIABLE, DEFAULT_FILE, environment_name

TARGET = Path(__file__).parent.parent / "docs" / "settings.md"

LEAD = f"""# Settings

Made by `python tools/settings_reference.py` from `src/leasehold/settings/settings.py`; do not edit. `leasehold config show`
prints the effective ones and where each comes from.

A setting is given by a flag (`--lease-seconds 30`), by a variable (`LEASEHOLD_LEASE_SECONDS=30`), or by a line of
`{DEFAULT_FILE}` (`lease_seconds = 30`; `{CONFIG_VARIABLE}` or `--config` name another file), in this order: the first one wins.
An unknown name and a value out of its range are refused at the start, with the nearest name that exists. Seconds are floats,
sizes are bytes. Which command takes which flag says [the command line](cli.md).

| variable | default | range | is |
| --- | --- | --- | --- |
"""

BAR = "\\|"

ALSO = """
## Under other names
These variables set the same, for programs that have them already. Our own name wins.

| variable | sets | unit |
| --- | --- | --- |
"""


def render() -> str:
    """The page for the settings as they are."""
    rows = [row(name) for name in Settings.__struct_fields__]
    return LEAD + "\n".join(rows) + "\n" + ALSO + "\n".join(aliases()) + "\n"


def row(name: str) -> str:
    """One setting."""
    sentence = describe_setting(name).replace("|", BAR)
    return f"| `{environment_name(name)}` | {default(name)} | {limits(name)} | {sentence} |"


def default(name: str) -> str:
    """What counts where nobody says anything."""
    value = getattr(Settings(), name)
    if value is None or value == "":
        return "none"
    text = show_value(name, value)
    return text.strip("()") if text.startswith("(") else f"`{text}`"


def limits(name: str) -> str:
    """Which values are let in."""
    found = next((each for each in metas(TYPES[name]) if each.ge is not None or each.gt is not None), None)
    if found is None:
        return ""
    least = f"{found.ge}" if found.ge is not None else f"more than {found.gt}"
    return f"{least} …" + (f" {found.le}" if found.le is not None else "")


def metas(hint: Any) -> Iterator[Meta]:
    """What an annotation says about its values, on every level."""
    yield from (each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Meta))
    for part in get_args(hint):
        if not isinstance(part, Meta):
            yield from metas(part)


def aliases() -> Iterator[str]:
    """A row for each variable of others."""
    for name, others in ALIASES.items():
        for each in others:
            yield f"| `{each.variable}` | `{environment_name(name)}` | {'milliseconds' if each.scale else ''} |"


if __name__ == "__main__":
    TARGET.write_text(render())
