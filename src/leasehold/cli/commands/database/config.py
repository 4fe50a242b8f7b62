"""`leasehold config show`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.text import plain, table
from leasehold.errors import SettingsError
from leasehold.settings import ExplainedSetting


def view_settings(settings: list[ExplainedSetting], _now: datetime) -> Sequence[RenderableType]:
    """name, value, origin."""
    rows = [[each.name, plain(each.value), _faint_default(each.origin)] for each in settings]
    return [table(["setting", "value", "from"], rows)]


def _faint_default(origin: str) -> Text:
    return Text(origin, "dim" if origin == "default" else "")


@shown_as(view_settings)
async def config_show(*, context: Annotated[CommandContext, INJECTED]) -> list[ExplainedSetting]:
    """Show every setting, its value and where it comes from.

    Passwords and tokens are masked; the data folder is shown as it is found.

    Example:
      leasehold config show
      LEASEHOLD_SLOTS=8 leasehold config show --output json
    """
    folder = find_folder(context)
    return [
        msgspec.structs.replace(each, value=folder) if each.name == "data_folder" else each
        for each in context.explained_settings()
    ]


def find_folder(context: CommandContext) -> str:
    """The whole path of the data folder, unless a database is configured."""
    if context.settings.database_url is not None:
        return "(not used)"
    try:
        return str(context.services.find_data_folder(context.named_folder))
    except SettingsError as error:
        return f"({error})"
