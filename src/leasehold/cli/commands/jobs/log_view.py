"""What handlers say, as people read it: lines of log, and a bar."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.views.text import ago, plain
from leasehold.records.jobs import JobProgress, LogLine

LEVELS = {"debug": "dim", "warning": "yellow", "error": "bold red", "critical": "bold red"}
BAR = 20


def view_logs(lines: list[LogLine], _now: datetime) -> Sequence[RenderableType]:
    """`13:00:05.123 #1 info      message`, in UTC; further lines of a message are indented."""
    return [part for line in lines for part in _view_line(line)]


def _view_line(line: LogLine) -> list[Text]:
    at = line.at.astimezone(UTC).strftime("%H:%M:%S.") + f"{line.at.microsecond // 1000:03d}"
    first, *rest = line.message.splitlines() or [""]
    head = Text.assemble(f"{at} #{line.attempt} ", (f"{line.level:<8}", LEVELS.get(line.level, "")), " ", plain(first))
    return [head, *(plain("    " + each) for each in rest)]


def progress_text(progress: JobProgress, now: datetime) -> Text:
    """`████████░░░░░░░░░░░░  40 %  parsing  (3s ago)`."""
    parts: list[str | Text | tuple[str, str]] = []
    if progress.fraction is not None:
        full = int(progress.fraction * BAR)
        parts += [("█" * full, "green"), ("░" * (BAR - full), "dim"), f"  {progress.fraction:.0%}".replace("%", " %")]
    if progress.message:
        parts += ["  " if parts else "", plain(progress.message)]
    parts.append((f"  ({ago(progress.at, now)})", "dim"))
    return Text.assemble(*parts)
