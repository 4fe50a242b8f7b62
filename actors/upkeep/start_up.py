"""What a scheduler does once, before its first round."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from leasehold.database import Caller
from leasehold.errors import BadInput

log = logging.getLogger(__name__)


async def recover_stale(connection: Caller) -> None:
    """Take back the jobs whose lease has run out, and blame nobody: a new process cannot know which workers died.

    Raises DatabaseUnavailable.
    """
    await connection.call("reap_jobs", present_for=timedelta())


async def declare_schedules(connection: Caller, declared: Sequence[Mapping[str, Any]], declared_by: str | None) -> None:
    """Make the schedules of an app known. What operators changed stays as it is.

    Args:
        connection: to the database.
        declared: definitions of schedules.
        declared_by: the app that declares them, as module:attribute; None where there is none.

    Raises:
        DatabaseUnavailable: it did not answer.
    """
    for definition in declared:
        try:
            [row] = await connection.call(
                "declare_schedule", msgspec.json.encode(definition).decode(), "code", declared_by
            )
        except BadInput as error:
            log.warning("schedule %r of the app is refused: %s", definition.get("name"), error)
            continue
        if row["outcome"] == "foreign":
            log.warning(
                "schedule %r is declared by the app %s too, and is left as that declares it: give one of them another "
                "name; or, if %s is but a former name of %s, run select leasehold.orphan_schedules(%s, '{}') "
                "and start this again",
                row["name"],
                row["declared_by"],
                row["declared_by"],
                declared_by,
                literal(row["declared_by"]),
            )
        elif row["outcome"] != "unchanged":
            log.info("schedule %r of the app %s", row["name"], row["outcome"])
    if declared_by is not None:
        names = [str(definition["name"]) for definition in declared]
        for row in await connection.call("orphan_schedules", declared_by, names):
            log.warning("schedule %r is in the code no more; it goes on until somebody deletes it", row[0])


def literal(text: str) -> str:
    """The text as a string literal of SQL."""
    return "'" + text.replace("'", "''") + "'"
