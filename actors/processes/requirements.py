"""What has to be in place before a worker may promise to run handlers in processes."""

from __future__ import annotations

from leasehold.app import App
from leasehold.jobs.kind import check_importable


def check_process_kinds(app: App) -> int:
    """Check the kinds of the app that run in a process; returns how many there are.

    Raises:
        InvalidArgs: a handler cannot be imported by name. BadInput: trio-parallel is not installed.
    """
    kinds = [kind for kind in app if kind.runs == "process"]
    if not kinds:
        return 0
    from leasehold.actors.processes.parallel import check_installed  # noqa: PLC0415  not paid for by others

    check_installed()
    for kind in kinds:
        check_importable(kind.name, kind.function)
    return len(kinds)
