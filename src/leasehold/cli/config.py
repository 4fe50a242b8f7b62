"""`leasehold config show`."""

from __future__ import annotations

from typing import Annotated

from leasehold.cli.context import Context
from leasehold.cli.options import INJECTED
from leasehold.settings import ExplainedSetting


async def config_show(*, context: Annotated[Context, INJECTED]) -> list[ExplainedSetting]:
    """Show every setting, its value and where it comes from.

    Passwords and tokens are masked.

    Example:
      leasehold config show
      LEASEHOLD_SLOTS=8 leasehold config show --output json
    """
    return context.explained_settings()
