"""Write the ranked report as Markdown and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from .measures import FileMeasures, Totals

TOP = 20
MARKDOWN_NAME = "report.md"
JSON_NAME = "report.json"

Ranking = Callable[[FileMeasures], int]


class CensusReport(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of `report.json`. `failed` are files whose job failed for good."""

    run: str
    root: str
    totals: Totals
    files: dict[str, FileMeasures]
    failed: tuple[str, ...] = ()


def write_report(report: CensusReport, folder: Path) -> None:
    """Write both files, each as a whole or not at all, because a second worker may do the same."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / JSON_NAME, msgspec.json.format(msgspec.json.encode(report), indent=2))
    _write(folder / MARKDOWN_NAME, to_markdown(report).encode())


def read_report(folder: Path) -> CensusReport:
    """Read what `write_report` wrote."""
    return msgspec.json.decode((folder / JSON_NAME).read_bytes(), type=CensusReport)


def to_markdown(report: CensusReport) -> str:
    """The report as Markdown."""
    modules = Counter(name for each in report.files.values() for name in each.modules)
    hardest = sorted(report.files.items(), key=lambda item: (-item[1].hardest_complexity, item[0]))[:TOP]
    parts = [
        f"# Census {report.run}",
        f"Every `*.py` below `{report.root}`, without installed packages and without test suites.",
        _table(["", "total"], [[name, f"{value:,}"] for name, value in msgspec.structs.asdict(report.totals).items()]),
        *_ranking("Most complex files", "complexity", report.files, lambda each: each.complexity),
        "## Most complex functions",
        _table(
            ["function", "complexity"],
            [[f"`{file}` `{each.hardest}`", f"{each.hardest_complexity:,}"] for file, each in hardest if each.hardest],
        ),
        *_ranking("Longest files", "lines", report.files, lambda each: each.lines),
        *_ranking("Most functions", "functions", report.files, lambda each: each.functions),
        "## Most imported modules",
        _table(
            ["module", "imported by files"], [[f"`{name}`", f"{count:,}"] for name, count in modules.most_common(TOP)]
        ),
        *_problems(report),
    ]
    return "\n\n".join(parts) + "\n"


def _problems(report: CensusReport) -> list[str]:
    unreadable = [f"- `{file}`: {each.unreadable}" for file, each in report.files.items() if each.unreadable]
    failed = [f"- `{file}`: its job failed" for file in report.failed]
    return ["## Not measured", "\n".join(failed + unreadable)] if failed or unreadable else []


def _ranking(title: str, head: str, files: Mapping[str, FileMeasures], value: Ranking) -> list[str]:
    best = sorted(files.items(), key=lambda item: (-value(item[1]), item[0]))[:TOP]
    return [f"## {title}", _table(["file", head], [[f"`{file}`", f"{value(each):,}"] for file, each in best])]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _write(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}.{id(content):x}")
    draft.write_bytes(content)
    draft.replace(path)
