from __future__ import annotations

import threading

import pytest

from leasehold.actors.progress import buffer as module
from leasehold.actors.progress.buffer import MOST_OF_A_JOB, Journal


def messages(journal: Journal) -> list[str]:
    return [line.message for line in journal.lines(100_000)]


def test_the_last_word_of_each_job_is_kept_in_the_order_of_ids() -> None:
    journal = Journal()
    journal.progress(7, 1, 0.1)
    journal.progress(3, 2, 0.2, "two")
    journal.progress(7, 1, 0.3)
    assert journal.said() == [(3, 2, 0.2, "two"), (7, 1, 0.3, None)]
    assert journal.said([7, 99]) == [(7, 1, 0.3, None)]


def test_what_was_written_is_gone_unless_something_newer_was_said_meanwhile() -> None:
    journal = Journal()
    journal.progress(1, 1, 0.1)
    journal.progress(2, 1, 0.1)
    said = journal.said()
    journal.progress(2, 1, 0.1)
    journal.written(said)
    assert journal.said() == [(2, 1, 0.1, None)]
    assert journal.has_words
    journal.written(journal.said())
    assert journal.is_empty
    assert not journal.has_words


@pytest.mark.parametrize("wrong", ["a lot", [], object()])
def test_a_fraction_that_is_no_number_is_the_handlers_error(wrong: object) -> None:
    journal = Journal()
    with pytest.raises((TypeError, ValueError)):
        journal.progress(1, 1, wrong)  # pyright: ignore[reportArgumentType]
    assert journal.is_empty


def test_lines_have_times_that_rise() -> None:
    journal = Journal()
    for number in range(1000):
        journal.line(number % 3, 1, "info", str(number))
    lines = journal.lines(1000)
    assert [line.message for line in lines] == [str(number) for number in range(1000)]
    assert len({line.at for line in lines}) == 1000
    assert sorted(line.at for line in lines) == [line.at for line in lines]


def test_lines_are_written_from_the_oldest_on() -> None:
    journal = Journal()
    for word in "abc":
        journal.line(1, 1, "info", word)
    assert [line.message for line in journal.lines(2)] == ["a", "b"]
    journal.written((), 2)
    assert messages(journal) == ["c"]


def test_a_line_is_cut_and_freed_of_what_postgres_cannot_keep() -> None:
    journal = Journal()
    journal.line(1, 1, "info", "\x00\ud800" + "x" * 5000)
    assert messages(journal) == ["\ufffd?" + "x" * 3998]


def test_of_one_job_no_more_is_taken_than_tells_the_database_that_there_is_more() -> None:
    journal = Journal()
    for number in range(2000):
        journal.line(1, 1, "info", str(number))
    journal.line(1, 2, "info", "next attempt")
    assert len(messages(journal)) == MOST_OF_A_JOB + 1
    assert journal.dropped == 0


def test_counting_ends_with_the_job() -> None:
    journal = Journal()
    for number in range(2000):
        journal.line(1, 1, "info", str(number))
    journal.forget(lambda job_id: job_id == 1)
    journal.line(1, 1, "info", "too many")
    assert len(messages(journal)) == MOST_OF_A_JOB
    journal.forget(lambda _job_id: None)
    journal.line(1, 1, "info", "counted anew")
    assert messages(journal)[-1] == "counted anew"


@pytest.mark.parametrize("bound", ["MOST_LINES", "MOST_CHARACTERS"])
def test_what_does_not_fit_in_is_counted_and_told_in_the_log_of_its_job(
    monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(module, bound, 3)
    journal = Journal()
    for _ in range(3):
        journal.line(1, 1, "info", "x")
    for _ in range(5):
        journal.line(2, 4, "info", "x")
    assert journal.dropped == 5
    journal.written((), len(journal.lines(3)))
    assert not journal.is_empty
    (line,) = journal.lines(3)
    assert (line.job_id, line.attempt, line.level) == (2, 4, "warning")
    assert line.message == "5 lines are missing here: too many waited for the database"
    journal.written((), 1)
    assert journal.is_empty


def test_whoever_listens_is_woken_once_by_the_first_that_comes() -> None:
    journal = Journal()
    woken: list[str] = []
    journal.listen(lambda: woken.append("first"))
    assert woken == []
    journal.progress(1, 1, 0.5)
    journal.line(1, 1, "info", "x")
    assert woken == ["first"]
    journal.listen(lambda: woken.append("second"))
    assert woken == ["first", "second"]


def test_threads_may_speak_at_once() -> None:
    journal = Journal()

    def speak(job_id: int) -> None:
        for number in range(500):
            journal.line(job_id, 1, "info", str(number))
            journal.progress(job_id, 1, number / 500)

    threads = [threading.Thread(target=speak, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = journal.lines(10_000)
    assert len(lines) == 4000
    assert [said.fraction for said in journal.said()] == [499 / 500] * 8
    for job_id in range(8):
        assert [line.message for line in lines if line.job_id == job_id] == [str(n) for n in range(500)]
