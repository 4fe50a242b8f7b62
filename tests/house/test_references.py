"""The pages and tables that are made from the sources are what these say."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Annotated, Literal

import pytest

import leasehold
from leasehold import Client
from leasehold.access.roles import ROLE_NAMES
from leasehold.cli.shell.command_table import COMMANDS
from leasehold.gateway.access.identities import Scope
from leasehold.settings import Settings
from leasehold.settings.sources import environment_name
from tools import api_reference, cli_reference, client_reference, settings_reference, tables

TOOLS = [cli_reference, settings_reference, api_reference, client_reference]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__)
def test_the_page_is_what_the_sources_say(tool: ModuleType) -> None:
    assert tool.TARGET.read_text() == tool.render(), f"run python -m {tool.__name__}"


@pytest.mark.parametrize("page", tables.PAGES, ids=lambda page: page.name)
def test_the_tables_of_the_page_are_what_the_sources_say(page: Path) -> None:
    text = page.read_text()
    assert tables.render(text) == text, "run python tools/tables.py"


def test_every_scope_and_every_role_has_a_row() -> None:
    assert len(list(tables.scope_rows())) == 1 + len(Scope) + 1
    assert len(list(tables.role_rows())) == 1 + len(ROLE_NAMES)


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


def test_a_line_has_the_first_sentence_and_the_first_arguments() -> None:
    promise, call = client_reference.promise, client_reference.call
    assert promise("Do it, at once. Then rest.\n\n    Raises:\n        BadInput: always.") == "Do it, at once."
    assert call("client", "cancel", Client.cancel) == "client.cancel(job_id, reason)"
    assert call("client", "enqueue", Client.enqueue) == "client.enqueue(job, args, connection, hooks, …, **options)"
