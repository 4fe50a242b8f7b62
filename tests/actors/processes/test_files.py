"""What handlers in processes say of themselves while they run, and afterwards."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

import pytest

from leasehold.actors.attempts.progress import MOST_OF_A_JOB, ProgressBuffer
from leasehold.actors.processes.files import OutputFile, OutputFileWriter
from tests.support.process_app import app
from tests.support.waiting import eventually
from tests.support.working import Working, working


class Spoken:
    """Both ends of a file."""

    def __init__(self) -> None:
        self.file = OutputFile()
        with self.file.at_a_path() as path:
            assert path is not None
            self.fd = os.open(path, os.O_WRONLY)
        self.buffer = ProgressBuffer()

    def heard(self) -> tuple[list[tuple[float | None, str | None]], list[tuple[str, str]]]:
        """Words and lines that had not been heard before."""
        self.file.read_output(self.buffer)
        said, lines = self.buffer.latest(), self.buffer.lines(10_000)
        self.buffer.written(said, len(lines))
        return [(each.fraction, each.message) for each in said], [(each.level, each.message) for each in lines]


@pytest.fixture
def spoken() -> Spoken:
    return Spoken()


def test_the_last_word_and_all_lines_are_heard_once(spoken: Spoken) -> None:
    speaker = OutputFileWriter(spoken.fd)
    assert spoken.heard() == ([], [])
    speaker.progress(1, 1, 0.25, "begun")
    speaker.progress(1, 1, 0.5)
    speaker.line(1, 1, "info", "one")
    speaker.line(1, 1, "error", "Überlauf " * 100)
    assert spoken.heard() == ([(0.5, None)], [("info", "one"), ("error", "Überlauf " * 100)])
    assert spoken.heard() == ([], [])
    speaker.line(1, 1, "info", "three")
    assert spoken.heard() == ([], [("info", "three")])


def test_the_next_job_begins_with_an_empty_file(spoken: Spoken) -> None:
    OutputFileWriter(spoken.fd).line(1, 1, "info", "of the first job, and long")
    spoken.heard()
    spoken.file.empty()
    speaker = OutputFileWriter(spoken.fd)
    speaker.progress(2, 1, None, "x")
    speaker.line(2, 1, "info", "second")
    assert spoken.heard() == ([(None, "x")], [("info", "second")])


def test_what_is_half_written_is_not_read(spoken: Spoken) -> None:
    speaker = OutputFileWriter(spoken.fd)
    speaker.line(1, 1, "info", "whole")
    speaker.line(1, 1, "info", "half")
    speaker.progress(1, 1, 0.5, "half")
    size = os.fstat(spoken.fd).st_size
    os.ftruncate(spoken.fd, size - 2)
    os.pwrite(spoken.fd, b"\x00", 12)
    assert spoken.heard() == ([], [("info", "whole")])


def test_no_more_lines_are_written_than_are_kept(spoken: Spoken) -> None:
    speaker = OutputFileWriter(spoken.fd)
    for number in range(MOST_OF_A_JOB + 5):
        speaker.line(1, 1, "info", str(number))
    assert len(spoken.heard()[1]) == MOST_OF_A_JOB


def test_without_a_file_nothing_is_said() -> None:
    file, buffer = OutputFile(), ProgressBuffer()
    OutputFileWriter(None).progress(1, 1, 0.5)
    OutputFileWriter(None).line(1, 1, "info", "x")
    file.empty()
    file.read_output(buffer)
    assert buffer.is_empty


async def progress(running: Working, job_id: int) -> tuple[float | None, str | None] | None:
    found = await running.client.jobs.progress(job_id)
    return None if found is None else (found.fraction, found.message)


async def logged(running: Working, job_id: int, count: int) -> list[tuple[str, str]]:
    """The lines of its log, once there are so many."""

    async def probe() -> list[tuple[str, str]] | None:
        lines = [(each.level, each.message) for each in await running.client.jobs.logs(job_id)]
        return lines if len(lines) >= count else None

    return await eventually(probe)


async def test_progress_and_lines_are_seen_while_the_process_works_and_the_last_ones_afterwards(
    database_url: str, tmp_path: Path
) -> None:
    place = tmp_path / f"go-{uuid4()}"
    async with working(database_url, app, lease_seconds=30.0) as running:
        job_id = await running.client.enqueue("speak", {"place": str(place)})
        assert await logged(running, job_id, 2) == [("debug", "first"), ("warning", "second")]

        async def half() -> bool:
            return await progress(running, job_id) == (0.5, "half")

        await eventually(half)
        place.touch()
        assert (await running.finished(job_id)).state == "completed"
        assert await progress(running, job_id) == (1.0, "done")
        assert (await logged(running, job_id, 3))[2:] == [("info", "third")]


async def test_what_a_process_said_before_it_was_killed_is_kept(database_url: str) -> None:
    async with working(database_url, app, lease_seconds=30.0) as running:
        job = await running.run("speak", {"crash": True}, max_attempts=1)
        assert job.state == "failed"
        assert await progress(running, job.id) == (0.5, "half")
        assert [message for _, message in await logged(running, job.id, 3)] == ["first", "second", "third"]
