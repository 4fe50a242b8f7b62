from __future__ import annotations

import threading

import pytest

from leasehold.actors.attempts import progress as module
from leasehold.actors.attempts.progress import MOST_OF_A_JOB, ProgressBuffer, ProgressReport


def messages(buffer: ProgressBuffer) -> list[str]:
    return [line.message for line in buffer.lines(100_000)]


def test_the_last_word_of_each_job_is_kept_in_the_order_of_ids() -> None:
    buffer = ProgressBuffer()
    buffer.progress(7, 1, 0.1)
    buffer.progress(3, 2, 0.2, "two")
    buffer.progress(7, 1, 0.3)
    assert buffer.latest() == [ProgressReport(3, 2, 0.2, "two"), ProgressReport(7, 1, 0.3, None)]
    assert buffer.latest([7, 99]) == [ProgressReport(7, 1, 0.3, None)]


def test_what_was_written_is_gone_unless_something_newer_was_said_meanwhile() -> None:
    buffer = ProgressBuffer()
    buffer.progress(1, 1, 0.1)
    buffer.progress(2, 1, 0.1)
    said = buffer.latest()
    buffer.progress(2, 1, 0.1)
    buffer.written(said)
    assert buffer.latest() == [ProgressReport(2, 1, 0.1, None)]
    assert buffer.has_progress
    buffer.written(buffer.latest())
    assert buffer.is_empty
    assert not buffer.has_progress


@pytest.mark.parametrize("wrong", ["a lot", [], object()])
def test_a_fraction_that_is_no_number_is_the_handlers_error(wrong: object) -> None:
    buffer = ProgressBuffer()
    with pytest.raises((TypeError, ValueError)):
        buffer.progress(1, 1, wrong)  # pyright: ignore[reportArgumentType]
    assert buffer.is_empty


def test_lines_have_times_that_rise() -> None:
    buffer = ProgressBuffer()
    for number in range(1000):
        buffer.line(number % 3, 1, "info", str(number))
    lines = buffer.lines(1000)
    assert [line.message for line in lines] == [str(number) for number in range(1000)]
    assert len({line.at for line in lines}) == 1000
    assert sorted(line.at for line in lines) == [line.at for line in lines]


def test_lines_are_written_from_the_oldest_on() -> None:
    buffer = ProgressBuffer()
    for word in "abc":
        buffer.line(1, 1, "info", word)
    assert [line.message for line in buffer.lines(2)] == ["a", "b"]
    buffer.written((), 2)
    assert messages(buffer) == ["c"]


def test_a_line_is_cut_and_freed_of_what_postgres_cannot_keep() -> None:
    buffer = ProgressBuffer()
    buffer.line(1, 1, "info", "\x00\ud800" + "x" * 5000)
    assert messages(buffer) == ["\ufffd?" + "x" * 3998]


def test_of_one_job_no_more_is_taken_than_tells_the_database_that_there_is_more() -> None:
    buffer = ProgressBuffer()
    for number in range(2000):
        buffer.line(1, 1, "info", str(number))
    buffer.line(1, 2, "info", "next attempt")
    assert len(messages(buffer)) == MOST_OF_A_JOB + 1
    assert buffer.dropped == 0


def test_counting_ends_with_the_job() -> None:
    buffer = ProgressBuffer()
    for number in range(2000):
        buffer.line(1, 1, "info", str(number))
    buffer.forget(lambda job_id: job_id == 1)
    buffer.line(1, 1, "info", "too many")
    assert len(messages(buffer)) == MOST_OF_A_JOB
    buffer.forget(lambda _job_id: None)
    buffer.line(1, 1, "info", "counted anew")
    assert messages(buffer)[-1] == "counted anew"


@pytest.mark.parametrize("bound", ["MOST_LINES", "MOST_CHARACTERS"])
def test_what_does_not_fit_in_is_counted_and_told_in_the_log_of_its_job(
    monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(module, bound, 3)
    buffer = ProgressBuffer()
    for _ in range(3):
        buffer.line(1, 1, "info", "x")
    for _ in range(5):
        buffer.line(2, 4, "info", "x")
    assert buffer.dropped == 5
    buffer.written((), len(buffer.lines(3)))
    assert not buffer.is_empty
    (line,) = buffer.lines(3)
    assert (line.job_id, line.attempt, line.level) == (2, 4, "warning")
    assert line.message == "5 lines are missing here: too many waited for the database"
    buffer.written((), 1)
    assert buffer.is_empty


def test_whoever_listens_is_woken_once_by_the_first_that_comes() -> None:
    buffer = ProgressBuffer()
    woken: list[str] = []
    buffer.listen(lambda: woken.append("first"))
    assert woken == []
    buffer.progress(1, 1, 0.5)
    buffer.line(1, 1, "info", "x")
    assert woken == ["first"]
    buffer.listen(lambda: woken.append("second"))
    assert woken == ["first", "second"]


def test_threads_may_speak_at_once() -> None:
    buffer = ProgressBuffer()

    def speak(job_id: int) -> None:
        for number in range(500):
            buffer.line(job_id, 1, "info", str(number))
            buffer.progress(job_id, 1, number / 500)

    threads = [threading.Thread(target=speak, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = buffer.lines(10_000)
    assert len(lines) == 4000
    assert [said.fraction for said in buffer.latest()] == [499 / 500] * 8
    for job_id in range(8):
        assert [line.message for line in lines if line.job_id == job_id] == [str(n) for n in range(500)]
