from __future__ import annotations

import pytest

from leasehold import App, NewJob
from leasehold.app.registry import with_builtins
from leasehold.errors import BadInput
from leasehold.testing import CrashFound, Kit
from tests.leasehold.testing import seeded

NAMES = [kind.name for kind in seeded.app]
BAD, GOOD = ([name for name in NAMES if name.startswith(word)] for word in ("bad", "good"))

BOOKS = """
select (select sum(amount) from balances), (select amount from balances where account = 'ada'),
       (select count(*) from (select from payments group by job_id having count(*) > 1) t),
       (select count(*) from paid where job_id not in (select job_id from payments)),
       (select count(*) from balances where amount = 10)
"""


@pytest.fixture
def leasehold_app() -> App:
    return seeded.app


def books_balance(kit: Kit) -> None:
    """All money is there, and nobody has paid twice or not at all while others think so."""
    [[total, ada, twice, unpaid, moved]] = kit.fetch(BOOKS)
    assert total in (100, 90), f"there are {total} instead of 100"
    assert ada in (100, 90), f"ada has {ada}"
    assert twice == 0, "somebody has paid twice"
    assert unpaid == 0 or moved, "somebody counts as paid who has not"


@pytest.fixture
def books(leasehold_kit: Kit, monkeypatch: pytest.MonkeyPatch) -> Kit:
    for statement in seeded.SCHEMA:
        leasehold_kit.fetch(statement)
    monkeypatch.setenv("BOOKS_URL", leasehold_kit.url)
    return leasehold_kit


def crash(kit: Kit, name: str) -> int:
    job = seeded.app.find(name).new()
    return len(kit.crash_everywhere(job, check=lambda: books_balance(kit)))


def test_a_handler_of_any_kind_is_not_taken_for_one_of_this_kind(leasehold_kit: Kit) -> None:
    """It would be killed before its own statements only, and never within those of what it calls."""
    leasehold_kit.app = with_builtins(App())
    with pytest.raises(BadInput, match="echo has no handler of its own"):
        leasehold_kit.crash_everywhere(NewJob(kind="echo"), check=lambda: True)


@pytest.mark.parametrize("name", BAD)
def test_the_fault_of_a_handler_is_found_by_killing_it_at_each_statement(books: Kit, name: str) -> None:
    with pytest.raises(CrashFound, match=r"killed before seeded.py:\d+ `.*`: AssertionError: ") as found:
        crash(books, name)
    assert any(point.problem is None for point in found.value.points)


@pytest.mark.parametrize("name", GOOD)
def test_no_fault_is_found_in_a_handler_that_has_none(books: Kit, name: str) -> None:
    assert crash(books, name) >= 2
    assert books.jobs() == []  # the database is as it was before
