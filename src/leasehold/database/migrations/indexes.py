"""Making indexes again that somebody has dropped, or that were left half made; those of others are left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leasehold.database.migrations.state import Description, describe_schema, read_description
from leasehold.database.migrations.steps import build_alone

if TYPE_CHECKING:
    from leasehold.database import Database
    from leasehold.database.migrations.steps import Steps

HALF_MADE, ON_ONLY = " invalid", " ON ONLY "


def definition_of(name: str, committed: Description) -> str | None:
    """The statement that makes an index, as in `index jobs.jobs_held`; None if it belongs to a constraint, or is no index."""
    definition = committed.get(name, "")
    is_own = f"constraint {name.partition(' ')[2]}" not in committed
    is_one = name.startswith("index ") and definition.startswith("CREATE ") and is_own
    return definition.replace(ON_ONLY, " ON ") if is_one else None  # of a partitioned table with all its partitions


def is_made_again(name: str, committed: Description) -> bool:
    """Whether `leasehold migrate` makes it again. Postgres cannot build one of a partitioned table beside writers."""
    return definition_of(name, committed) is not None and ON_ONLY not in committed[name]


async def find_gone(database: Database) -> list[str]:
    """The names of our indexes that are missing or half made, and that are made again."""
    wanted, found = read_description(), await describe_schema(database)
    if not found:
        return []
    gone = [name for name in wanted if found.get(name) in (None, wanted[name] + HALF_MADE)]
    return sorted(name for name in gone if is_made_again(name, wanted))


async def make_again(steps: Steps) -> tuple[str, ...]:
    """Make them, one after the other, while others go on working. Returns their names.

    Raises what Postgres says, with the name of the index.
    """
    wanted = read_description()
    gone = await find_gone(steps.database)
    for name in gone:
        title = name.replace(f"{name.partition(' ')[2].partition('.')[0]}.", "")
        steps.say(f"{title} is made again")
        statement = (definition_of(name, wanted) or "").replace(" INDEX ", " INDEX CONCURRENTLY ", 1)
        await build_alone(steps, title, [statement])
    return tuple(name.rpartition(".")[2] for name in gone)
