"""`leasehold gateway`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.loading import load_app
from leasehold.cli.runtime.options import FAIL_FAST, INJECTED, setting
from leasehold.cli.runtime.outcome import Finally
from leasehold.cli.runtime.parent import stop_with_parent


async def gateway(
    *,
    host: Annotated[str | None, setting("gateway_host")] = None,
    port: Annotated[int | None, setting("gateway_port")] = None,
    cors_origins: Annotated[str | None, setting("gateway_cors_origins")] = None,
    app: Annotated[
        str | None,
        Parameter(
            help="Refuse kinds and args that do not fit the handlers at module:attribute, and use the options of the kinds."
        ),
    ] = None,
    fail_fast: Annotated[bool, FAIL_FAST] = False,
    with_parent: Annotated[bool, Parameter(show=False)] = False,
    context: Annotated[CommandContext, INJECTED],
) -> Finally:
    """Serve the HTTP API.

    SIGTERM finishes the requests in flight; a second signal ends it at once. While the database cannot be reached, what needs
    it is answered with 503.

    Example:
      leasehold gateway --port 8420
      leasehold gateway --app shop.jobs:app
    """
    settings = context.settings_with({"gateway_host": host, "gateway_port": port, "gateway_cors_origins": cors_origins})
    handlers = load_app(app) if app else None
    if with_parent:
        stop_with_parent()
    resolved = context.resolved(settings)
    interruption = context.interruption

    def run() -> int:
        return context.services.run_gateway(resolved, handlers, lambda: interruption.is_heard, waits=not fail_fast)

    return Finally(run)
