from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import trio

from examples.stdlib_census import app
from examples.stdlib_census.measures import FileMeasures, Totals, count_plainly, measure, total
from examples.stdlib_census.report import CensusReport, read_report, to_markdown
from examples.stdlib_census.sources import find_sources, standard_library
from leasehold.records.jobs import JobRecord
from tests.support.waiting import eventually
from tests.support.working import Working, working

FILES = {
    "plain.py": b"import os, sys\nfrom json import loads\n\n\ndef load(text):\n    return loads(text) if text else None\n",
    "pack/age.py": b"class Pack:\n    def open(self):\n        for _ in self:\n            assert _ and self\n",
    "pack/latin.py": "# -*- coding: latin-1 -*-\nname = 'Zoë'".encode("latin-1"),
    "pack/broken.py": b"def nothing(:\n",
    "empty.py": b"",
    "pack/tests/test_age.py": b"raise SystemExit\n",
    "site-packages/installed.py": b"raise SystemExit\n",
    "notes.txt": b"not a source\n",
}
COUNTED = ["empty.py", "pack/age.py", "pack/broken.py", "pack/latin.py", "plain.py"]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    root = tmp_path / "sources"
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


@pytest.fixture(autouse=True)
def _the_handlers_find_the_database(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEASEHOLD_DATABASE_URL", database_url)


async def take_census(running: Working, sources: Path, folder: Path, **troubles: object) -> JobRecord:
    """Run discovery, files and report; returns the discovery."""
    args = {"run": "one", "folder": str(folder), "root": str(sources), "troubles": troubles}
    discovery = await running.run("census.discover", args)
    [report] = await running.client.jobs.list(kind="census.report")
    assert (await running.finished(report.id)).state == "completed"
    return discovery


def test_what_is_counted_are_the_sources_without_packages_and_test_suites(sources: Path) -> None:
    assert find_sources(sources) == COUNTED


def test_the_standard_library_of_this_python_is_found() -> None:
    found = find_sources(standard_library())
    assert {"ast.py", "json/decoder.py"} <= {*found}
    assert not [file for file in found if {"test", "tests", "site-packages"} & {*Path(file).parts}]


def test_a_file_is_measured_by_its_syntax() -> None:
    assert measure(FILES["plain.py"]) == FileMeasures(
        lines=6,
        bytes=len(FILES["plain.py"]),
        functions=1,
        imports=3,
        complexity=3,
        hardest="load",
        hardest_complexity=2,
        modules=("json", "os", "sys"),
    )
    pack = measure(FILES["pack/age.py"])
    assert (pack.classes, pack.functions, pack.hardest, pack.hardest_complexity) == (1, 1, "Pack.open", 4)


def test_a_file_that_is_no_python_is_counted_and_not_raised() -> None:
    found = measure(FILES["pack/broken.py"])
    assert (found.lines, found.functions) == (1, 0)
    assert found.unreadable is not None
    assert found.unreadable.startswith("SyntaxError: ")
    assert (measure(b"\0").unreadable or "").startswith(("ValueError: ", "SyntaxError: "))


def test_the_last_line_counts_with_and_without_its_end() -> None:
    assert [measure(source).lines for source in (b"", b"a", b"a\n", b"a\nb")] == [0, 1, 1, 2]


async def test_the_jobs_find_what_a_plain_count_finds(database_url: str, sources: Path, tmp_path: Path) -> None:
    async with working(database_url, app) as running:
        discovery = await take_census(running, sources, tmp_path / "report")
    plain = count_plainly(sources)
    written = read_report(tmp_path / "report")
    assert written.files == plain
    assert written.totals == total(plain.values())
    assert discovery.output == {"files": 5, "new_jobs": 5}
    assert "| `pack/age.py` | 5 |" in (tmp_path / "report" / "report.md").read_text()


async def test_a_discovery_that_runs_twice_enqueues_each_file_once(
    database_url: str, sources: Path, tmp_path: Path
) -> None:
    async with working(database_url, app) as running:
        await take_census(running, sources, tmp_path)
        again = await take_census(running, sources, tmp_path)
        assert again.output == {"files": 5, "new_jobs": 0}
        assert len(await running.client.jobs.list(kind="census.measure")) == len(COUNTED)


async def test_troubles_on_purpose_change_nothing_in_the_report(
    database_url: str, sources: Path, tmp_path: Path
) -> None:
    async with working(database_url, app) as running:
        cue = tmp_path / "cue"

        async def jobs() -> dict[str, JobRecord]:
            return {job.args["file"]: job for job in await running.client.jobs.list(kind="census.measure")}

        async def only_the_slow_one_goes_on() -> bool:
            return sorted(job.state for job in (await jobs()).values()) == [*["completed"] * 4, "running"]

        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(take_census, running, sources, tmp_path, slow_files=1, cue=str(cue), stumbles=2))
            await eventually(only_the_slow_one_goes_on)
            cue.touch()
        found = await jobs()
    assert found["empty.py"].attempt == 3
    assert [file for file, job in found.items() if job.args["cue"]] == ["pack/age.py"]
    assert read_report(tmp_path).files == count_plainly(sources)


def test_a_file_whose_job_failed_is_named_in_the_report() -> None:
    totals = Totals(files=0, lines=0, bytes=0, functions=0, classes=0, imports=0, complexity=0, unreadable=0)
    text = to_markdown(CensusReport(run="one", root="/lib", totals=totals, files={}, failed=("gone.py",)))
    assert "## Not measured\n\n- `gone.py`: its job failed" in text
