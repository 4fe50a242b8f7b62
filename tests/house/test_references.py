"""docs/cli.md, docs/settings.md and docs/api.md are what the sources say."""

from __future__ import annotations

from types import ModuleType
from typing import Annotated, Literal

import pytest

import leasehold
from leasehold.cli.shell.command_table import COMMANDS
from leasehold.settings import Settings
from leasehold.settings.sources import environment_name
from tools import api_reference, cli_reference, settings_reference


@pytest.mark.parametrize("tool", [cli_reference, settings_reference, api_reference], ids=lambda tool: tool.__name__)
def test_the_page_is_what_the_sources_say(tool: ModuleType) -> None:
    assert tool.TARGET.read_text() == tool.render(), f"run python -m {tool.__name__}"


def test_every_command_has_a_section() -> None:
    page = cli_reference.render()
    assert [
        name for commands in COMMANDS.values() for name in commands if f"\n### leasehold {name}\n" not in page
    ] == []


def test_every_setting_has_a_row() -> None:
    page = settings_reference.render()
    assert [name for name in Settings.__struct_fields__ if f"\n| `{environment_name(name)}` |" not in page] == []


def test_every_public_name_has_a_section() -> None:
    page = api_reference.render()
    assert [name for name in leasehold.__all__ if f"\n### {name}\n" not in page] == []


@pytest.mark.parametrize(
    ("hint", "shown"),
    [
        (int | None, "INT"),
        (float, "FLOAT"),
        (bool, ""),
        (Annotated[str | None, "x"], "STR"),
        (Literal["text", "json"] | None, "`text`, `json`"),
        (list[int], "INT …"),
    ],
)
def test_a_flag_says_what_it_takes(hint: object, shown: str) -> None:
    assert cli_reference.takes(hint) == shown


def test_a_docstring_becomes_lists_and_blocks() -> None:
    text = "Do it.\n\nArgs:\n    a: one,\n        or two.\n    b, c: more.\n\nExample:\n    do(1)\n"
    assert list(api_reference.docstring(text)) == [
        "Do it.\n",
        "**Args**\n",
        "- `a`: one, or two.\n- `b, c`: more.\n",
        "```python\ndo(1)\n```",
    ]
