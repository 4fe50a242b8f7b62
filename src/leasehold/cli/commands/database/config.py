"""`leasehold config show`."""

from __future__ import annotations

from typing import Annotated

import msgspec

from leasehold.cli.shell.context import Context
from leasehold.cli.shell.options import INJECTED
from leasehold.errors import SettingsError
from leasehold.settings import ExplainedSetting


async def config_show(*, context: Annotated[Context, INJECTED]) -> list[ExplainedSetting]:
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


def find_folder(context: Context) -> str:
    """The whole path of the data folder, unless a database is configured."""
    if context.settings.database_url is not None:
        return "(not used)"
    try:
        return str(context.services.find_data_folder(context.named_folder))
    except SettingsError as error:
        return f"({error})"
