"""`leasehold mcp`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.errors import LeaseholdError

TOKEN = "LEASEHOLD_TOKEN"  # the name of a variable


class AgentsMissing(LeaseholdError):
    """`leasehold mcp` needs the extra: pip install 'leasehold[mcp]'."""


async def mcp(
    *,
    url: Annotated[str | None, Parameter(help="Address of the gateway; default: where the settings put it.")] = None,
    changes: Annotated[
        bool,
        Parameter(help="Offer what changes one job, queue or schedule, too; each change takes a code.", negative=()),
    ] = False,
    context: Annotated[CommandContext, INJECTED],
) -> None:
    """Let an agent look at jobs, over the Model Context Protocol.

    It is a server on standard input and output. It asks a gateway, with the token in LEASEHOLD_TOKEN where the gateway wants
    one. What the token may not read, the agent does not see. Without --changes it changes nothing, whatever the token may do.

    Example:
      leasehold mcp
      LEASEHOLD_TOKEN=lh_… leasehold mcp --url https://jobs.example.org --changes
    """
    try:
        from leasehold.mcp.server import serve  # noqa: PLC0415  the extra may be missing, and takes half a second to import
    except ImportError as error:
        raise AgentsMissing from error
    settings = context.settings
    address = url or f"http://{settings.gateway_host}:{settings.gateway_port}"
    await serve(address, context.terminal.environ.get(TOKEN), may_change=changes)
