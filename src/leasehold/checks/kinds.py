"""Kinds of which the running versions of an app say different things."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from leasehold.checks.verdicts import Check, advise, ok
from leasehold.database.calls import decoded
from leasehold.records.kinds import KindRecord

if TYPE_CHECKING:
    from leasehold.checks.verdicts import Examined

MOST_NAMED = 3


async def check_kinds(database: Examined) -> Check:
    """No live worker runs a version that says otherwise of a kind than the one that wins."""
    kinds = [msgspec.convert(decoded(row), KindRecord) for row in await database.call("list_kinds")]
    torn = [
        f"{kind.kind} ({', '.join(other.fields)}: version {other.app_version or '-'} runs, {kind.app_version or '-'} wins)"
        for kind in kinds
        for other in kind.conflicts
        if other.workers
    ]
    if not torn:
        return ok("kinds", f"{len(kinds)} declared, and the live workers agree")
    named = ", ".join(torn[:MOST_NAMED]) + (f" and {len(torn) - MOST_NAMED} more" if len(torn) > MOST_NAMED else "")
    return advise(
        "kinds",
        f"versions disagree: {named}",
        "that is so during a deploy; else end the workers of the other version, or choose one: leasehold kinds sync --app …",
    )
