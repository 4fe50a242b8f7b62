"""What `leasehold top` shows: a frame of exactly as many lines as the terminal has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from leasehold.cli.commands.queues import unserved_note
from leasehold.cli.top.state import Look, QueueLine, sparkline
from leasehold.cli.views import STATE_STYLES, count_text, plain, state_text
from leasehold.observability.wording import show_count, show_span
from leasehold.records.measures import Failure
from leasehold.records.workers import WorkerRecord

SECTIONS = ("queues", "workers", "failures")
SHARES = (0.45, 0.30, 0.25)
HEAD_LINES = 2
FOOT_LINES = 1
TITLE_LINES = 2
LEAST_LINES = 3
NARROW, NARROWEST = 100, 76
KEYS = "q quit   p pause   tab section   ↑↓ scroll"


class Screen(msgspec.Struct):
    """What the keys have chosen: which section has the room, how far each is scrolled, whether it stands still."""

    section: int = 0
    offsets: list[int] = msgspec.field(default_factory=lambda: [0, 0, 0])
    is_paused: bool = False
    trouble: str | None = None

    def press(self, key: str) -> bool:
        """React to a key; returns whether to go on."""
        match key:
            case "q":
                return False
            case "p":
                self.is_paused = not self.is_paused
            case "tab":
                self.section = (self.section + 1) % len(SECTIONS)
            case "back tab":
                self.section = (self.section - 1) % len(SECTIONS)
            case "down":
                self.offsets[self.section] += 1
            case "up":
                self.offsets[self.section] = max(0, self.offsets[self.section] - 1)
            case _:
                pass
        return True


def view_top(look: Look | None, screen: Screen, width: int, height: int) -> RenderableType:
    """A whole screen."""
    if look is None:
        return Text(screen.trouble or "looking …", "yellow" if screen.trouble else "")
    parts: list[RenderableType] = [*_head(look, screen)]
    sections = [maker(look, width) for maker in (_queues, _workers, _failures)]
    needs = [len(each.rows) + TITLE_LINES for each in sections]
    room = share_lines(max(height - HEAD_LINES - FOOT_LINES, 0), needs, screen.section)
    parts += [
        _section(each, number, screen, lines)
        for number, (each, lines) in enumerate(zip(sections, room, strict=True))
        if lines
    ]
    parts.append(_foot(screen))
    return Group(*parts)


def share_lines(lines: int, needs: Sequence[int], chosen: int) -> list[int]:
    """How many lines each section gets of what it needs: a share, the chosen one half as much again; what one does not
    need goes to the others, the chosen one first, and what nobody needs to the last."""
    weights = [share * (1.5 if number == chosen else 1.0) for number, share in enumerate(SHARES)]
    given = [
        min(need, max(LEAST_LINES, int(lines * weight / sum(weights))))
        for need, weight in zip(needs, weights, strict=True)
    ]
    for number in (2, 1, 0):
        given[number] = max(0, given[number] - max(0, sum(given) - lines))
    for number in dict.fromkeys((chosen, 0, 1, 2)):
        given[number] += min(needs[number] - given[number], lines - sum(given))
    given[-1] += lines - sum(given)
    return given


def _head(look: Look, screen: Screen) -> list[Text]:
    fleet = look.fleet
    at = look.at.astimezone(UTC).strftime("%H:%M:%S UTC")
    first = Text.assemble(
        ("leasehold ", "bold"),
        (at, "dim"),
        ("  PAUSED" if screen.is_paused else "", "reverse"),
        f"  ready {show_count(look.count('pending'), is_partial=any(line.is_partial for line in look.queues))}",
        f"  later {look.count('scheduled', 'waiting', 'blocked'):,}",
        f"  held {fleet.held_jobs:,}",
        f"  in {_rate(look.arrived)}/s  out {_rate(look.ended)}/s",
        no_wrap=True,
        overflow="ellipsis",
    )
    if screen.trouble:
        first.append(f"  {screen.trouble}", "bold red")
    second = Text("workers ", no_wrap=True, overflow="ellipsis")
    for state in ("ready", "paused", "draining", "stale"):
        number: int = getattr(fleet, state)
        if number or state == "ready":
            second.append(f"{number} {state}  ", STATE_STYLES.get(state, "yellow"))
    second.append(f"{fleet.held_jobs:,} jobs for {fleet.slots:,} slots")
    for number, label in (
        (sum(len(line.unserved_kinds) for line in look.queues), "unserved kinds"),
        (fleet.overdue_jobs, "overdue leases"),
        (fleet.lost_jobs, "jobs taken back"),
        (fleet.lost_wake_ups, "lost wake-ups"),
        (fleet.backing_off, "backing off"),
        (fleet.deaf, "polling, deaf to wake-ups"),
    ):
        if number:
            second.append(f"  {number:,} {label}", "yellow")
    return [first, second]


def _foot(screen: Screen) -> Text:
    return Text(
        KEYS.replace("p pause", "p go on") if screen.is_paused else KEYS, "dim", no_wrap=True, overflow="ellipsis"
    )


class _Rows(msgspec.Struct, frozen=True, eq=False):
    heads: Sequence[str]
    right: frozenset[str]
    rows: Sequence[Sequence[Text]]
    grows: str


def _section(rows: _Rows, number: int, screen: Screen, lines: int) -> Table:
    """A table of this number of lines: a title, heads, rows."""
    room = max(lines - TITLE_LINES, 0)
    offset = screen.offsets[number] = min(screen.offsets[number], max(0, len(rows.rows) - room))
    shown = list(rows.rows[offset : offset + room])
    title = f"{SECTIONS[number]} {len(rows.rows)}"
    if shown and len(rows.rows) > len(shown):
        title += f" ({offset + 1}-{offset + len(shown)})"
    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        expand=True,
        header_style="bold",
        title_justify="left",
        title=Text(title, "reverse" if number == screen.section else "dim"),
        title_style="",
    )
    for head in rows.heads:
        table.add_column(
            head,
            no_wrap=True,
            overflow="ellipsis",
            justify="right" if head in rows.right else "left",
            ratio=1 if head == rows.grows else None,
        )
    for row in [*shown, *[[Text("")]] * (room - len(shown))]:
        table.add_row(*row)
    return table


def _queues(look: Look, width: int) -> _Rows:
    heads = ["queue", "ready", "later", "held", "oldest", "in/s", "out/s", "fail/s", "ended/s"]
    shown = len(heads) if width >= NARROWEST else heads.index("in/s")
    rows = [_queue(line, 30 if width >= NARROW else 12)[:shown] for line in look.queues]
    return _Rows(heads[:shown], frozenset(heads[1:8]), rows, "queue")


def _queue(line: QueueLine, bars: int) -> list[Text]:
    def count(*states: str) -> Text:
        number = sum(line.jobs.get(state, 0) for state in states)
        text = count_text(number, states[0])
        return text.append("+") if line.is_partial and "pending" in states else text

    return [
        _queue_name(line),
        count("pending"),
        count("scheduled", "waiting", "blocked"),
        count("running", "claimed"),
        Text("·", "dim") if line.oldest is None else Text(show_span(line.oldest)),
        Text(_rate(line.arrived)),
        Text(_rate(line.ended)),
        Text(_rate(line.failed), "bold red" if line.failed else "dim"),
        Text(sparkline(line.history, bars), "green"),
    ]


def _queue_name(line: QueueLine) -> Text:
    name = plain(line.queue)
    return name.append(f"  {unserved_note(line.unserved_kinds)}", "yellow") if line.unserved_kinds else name


def _workers(look: Look, width: int) -> _Rows:
    heads = ["worker", "slots", "mem", "cpu", "state", "queues"]
    cells: list[Callable[[WorkerRecord], Text]] = [
        _worker_name if width >= NARROW else lambda each: plain(each.worker_id),
        _slots,
        lambda each: _share(each.memory),
        lambda each: _share(each.cpu),
        _worker_state if width >= NARROW else _short_state,
    ]
    cells.append(lambda each: plain(", ".join(each.queues) or "all"))
    if width >= NARROW:
        heads += ["version", "process", "heartbeat"]
        cells.append(_version)
        cells.append(lambda each: plain(f"{each.host}:{each.pid}"))
        cells.append(lambda each: Text(f"{show_span(each.silent_for)} ago"))
    rows = [[cell(each) for cell in cells] for each in look.workers]
    return _Rows(heads, frozenset({"slots", "mem", "cpu"}), rows, "queues")


def _worker_name(worker: WorkerRecord) -> Text:
    return plain(f"{worker.worker_id} ({worker.name})" if worker.name != worker.worker_id else worker.worker_id)


def _worker_state(worker: WorkerRecord) -> Text:
    if worker.backoff:
        return plain(f"backing off: {worker.backoff}", "yellow")
    return state_text(worker.state)


def _short_state(worker: WorkerRecord) -> Text:
    return Text("backing off", "yellow") if worker.backoff else state_text(worker.state)


def _slots(worker: WorkerRecord) -> Text:
    return Text(f"{worker.active_jobs}/{worker.slots}")


def _version(worker: WorkerRecord) -> Text:
    return plain(worker.app_version or worker.version, "yellow" if worker.outdated else "")


def _share(share: float | None) -> Text:
    """Green below half, yellow to 74 %, amber to 89 %, red from there."""
    if share is None:
        return Text("·", "dim")
    style = "green" if share < 0.5 else "yellow" if share < 0.75 else "dark_orange" if share < 0.9 else "bold red"
    return Text(f"{share:.0%}", style)


def _failures(look: Look, _width: int) -> _Rows:
    heads = ["at", "job", "kind", "queue", "message"]
    return _Rows(heads, frozenset({"job"}), [_failure(each) for each in look.failures], "message")


def _failure(failure: Failure) -> list[Text]:
    at = failure.at.astimezone(UTC).strftime("%H:%M:%S")
    job = Text(f"{failure.job_id}#{failure.attempt}", "bold red" if failure.is_final else "yellow")
    message = (failure.message or "").partition("\n")[0]
    return [Text(at, "dim"), job, plain(failure.kind or "?"), plain(failure.queue or "?"), plain(message)]


def _rate(rate: float) -> str:
    return "·" if rate == 0 else f"{rate:.1f}" if rate < 100 else f"{rate:,.0f}"
