"""The tables and functions of task workers, put beside our schema on request: views that can be written, in a schema of theirs.

Their SQL lies in `sql/compat/`. It is no part of the schema: `leasehold migrate` neither makes nor needs it.
"""

from __future__ import annotations

from leasehold.database import open_database
from leasehold.errors import LeaseholdError
from leasehold.moving.sources import SCHEMA
from leasehold.sql import read_folder
from leasehold.validation import refusal

INSTALLED = ("check", "worker_tasks", "claim_task", "task_schedules", "functions")
"""The files of an installation, in the order in which they can be run."""
REMOVED = ("uninstall",)


def compat_script(schema: str = "public", *, remove: bool = False) -> str:
    """The SQL that makes the views and functions of task workers in a schema, or removes them, in one transaction. Doing it again
    changes nothing. Always the same text.

    Raises:
        BadInput: the schema has another character than lower case letters, digits and _.
    """
    if not SCHEMA.fullmatch(schema):
        raise refusal("schema", "lower case letters, digits and _", schema)
    texts = read_folder("compat")
    bodies = [texts[name].replace("@schema@", schema) for name in (REMOVED if remove else INSTALLED)]
    # Bodies name what comes after them.
    head = "begin;\nset local check_function_bodies = off;\nset local client_min_messages = warning;\n"
    return head + "\n".join(bodies) + "commit;\n"


async def run_compat(dsn: str, schema: str = "public", *, remove: bool = False) -> None:
    """Run `compat_script` in a database that has our schema.

    Raises:
        BadInput: there is no such schema.
        WrongState: it has a table, a view or a function of one of these names already; nothing was changed.
        QueryRefused: Postgres refused it, such as for want of rights, or because views of others are built on ours.
        DatabaseUnavailable: no connection.
    """
    refused: LeaseholdError | None = None
    async with open_database(dsn, pool_size=1, application_name="leasehold compat") as database:
        try:
            await database.execute(compat_script(schema, remove=remove))
        except LeaseholdError as error:
            refused = error
    if refused is not None:  # raised here, because the nurseries that are open above would put it into a group
        raise refused
