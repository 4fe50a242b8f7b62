"""The Postgres roles: whether each may call what it should, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leasehold.checks.verdicts import Check, ok, problem

if TYPE_CHECKING:
    from leasehold.checks.verdicts import Examined
    from leasehold.database.migrations import GrantsState

MOST_NAMED = 5


async def check_grants(database: Examined) -> Check:
    """The roles of `leasehold grants` are as this code makes them, where anybody made them."""
    from leasehold.database.migrations.granting import grants_state  # noqa: PLC0415

    return judge_grants(await grants_state(database))


def judge_grants(state: GrantsState) -> Check:
    """What differs is named."""
    if state.prefix is None:
        return ok("grants", "no roles in force; every login does what its own rights allow (leasehold grants)")
    if state.differing:
        more = f" and {len(state.differing) - MOST_NAMED} more" if len(state.differing) > MOST_NAMED else ""
        return problem("grants", "; ".join(state.differing[:MOST_NAMED]) + more, "run `leasehold grants --apply`")
    return ok("grants", f"the roles {state.prefix}… may call what they should and nothing else")
