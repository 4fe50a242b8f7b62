"""What the kinds of a worker need before it starts, and what the catalogue is told of them."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import msgspec

from leasehold.app import App
from leasehold.app.registry import own_kinds
from leasehold.database import Caller
from leasehold.errors import BadInput, NoIdentities, QueryRefused, SchemaMismatch
from leasehold.jobs.catalogue import describe_kinds

log = logging.getLogger(__name__)

DEFAULT_QUEUE = "default"


def kinds_with_egress(app: App, queues: Sequence[str]) -> list[str]:
    """The kinds that call servers of others, as far as a worker of these queues serves them (none named: all)."""
    needy = (kind for kind in app if kind.options.egress)
    return [kind.name for kind in needy if not queues or (kind.options.queue or DEFAULT_QUEUE) in queues]


async def check_identities(database: Caller, app: App, queues: Sequence[str]) -> None:
    """Refuse to start where a kind needs egress identities and there are none. Those that cool or are leased count.

    Raises:
        NoIdentities: there are none. DatabaseUnavailable: it did not answer.
    """
    needy = kinds_with_egress(app, queues)
    if needy and not any(row["state"] != "retired" for row in await database.call("count_identities")):
        raise NoIdentities(
            f"this worker serves {', '.join(needy)} with egress=True, and there is no egress identity; "
            "add one first: leasehold egress add NAME --proxy http://HOST:PORT"
        )


async def declare_kinds(database: Caller, app: App, name: str | None, version: str | None) -> None:
    """Tell the catalogue what the kinds of the app want, all of it in one transaction. A worker can do without, so what stands
    in the way is a warning.

    Args:
        database: to tell it.
        app: its kinds, but for those that every worker has.
        name: of the app, as module:attribute.
        version: of its code.

    Raises:
        DatabaseUnavailable: it did not answer.
    """
    described = describe_kinds(own_kinds(app))
    if not described:
        return
    try:
        document = msgspec.json.encode(described).decode()
        rows = await database.call("declare_kinds", document, name or "", version or "")
    except (BadInput, QueryRefused, SchemaMismatch, TypeError) as error:
        log.warning("the catalogue of kinds stays as it is, so enqueueing over SQL and HTTP does too: %s", error)
        return
    if older := [row["kind"] for row in rows if row["outcome"] == "older"]:
        log.info(
            "of kind %s the catalogue has what another version said later: see leasehold kinds list", ", ".join(older)
        )
