"""`leasehold demo`."""

from __future__ import annotations

from typing import Annotated

from leasehold.cli.context import Context
from leasehold.cli.options import INJECTED


async def demo(*, context: Annotated[Context, INJECTED]) -> int:
    """Watch it work: real jobs on several workers, one of which is killed.

    At the end it checks that nothing was lost.

    Example:
      leasehold demo
    """
    settings = context.resolved(context.settings)
    await context.migrate()
    return await context.services.run_demo(settings)
