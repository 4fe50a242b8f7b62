from __future__ import annotations

from collections.abc import Sequence

from faults.checker.fencing import judge_fencing
from faults.history.history import FAILOVER, History
from faults.history.records import Change, End, Entry, Fault, Worker

FORMER, NEW, STRANGER = "former", "new", "stranger"
WORKERS = [
    Worker(FORMER, "a", "worker1.1", 0.0),
    Worker(NEW, "a", "worker1.1", 5.0),
    Worker(STRANGER, "b", "worker2.1", 0.0),
]
FAILED_OVER = Fault(FAILOVER, "F10", 4.0, 4.5)


def change(n: int, old: tuple[str | None, int, str | None], new: tuple[str | None, int, str | None], by: str) -> Change:
    (old_state, old_attempt, old_owner), (state, attempt, owner) = old, new
    return Change(
        n, n, float(n), float(n), f"leasehold @{by}", 1, old_state, state, old_attempt, attempt, old_owner, owner,
        99.0, 99.0, None, "echo", "default", None, None, 1, 0.0, 3, 0, 0, None, None, None, None,
    )  # fmt: skip


def end(n: int, owner: str, said: str, by: str = "worker1.1") -> End:
    return End(
        n,
        n,
        float(n),
        float(n),
        f"leasehold @{by}",
        1,
        "completed",
        1,
        owner,
        "echo",
        "default",
        1,
        None,
        None,
        1,
        said,
    )


MADE = change(1, (None, 0, None), ("pending", 0, None), "client")
CLAIMED = change(2, ("pending", 0, None), ("claimed", 1, FORMER), "worker1.1")
ADOPTED = change(6, ("claimed", 1, FORMER), ("claimed", 1, NEW), "worker1.1")
GONE = change(8, ("claimed", 1, NEW), (None, 1, NEW), "worker1.1")


def found(entries: Sequence[Entry]) -> list[str]:
    return [each.rule for each in judge_fencing(History([*WORKERS, *entries]))]


def test_a_process_goes_on_with_its_attempt_after_a_failover_and_its_handler_may_name_its_former_life() -> None:
    assert found([FAILED_OVER, MADE, CLAIMED, ADOPTED, end(7, NEW, FORMER), GONE]) == []


def test_without_a_failover_nobody_goes_on_under_another_name() -> None:
    assert set(found([MADE, CLAIMED, ADOPTED, end(7, NEW, FORMER), GONE])) == {"I3", "I4", "I5"}


def test_only_the_process_that_holds_an_attempt_goes_on_with_it() -> None:
    taken = change(6, ("claimed", 1, FORMER), ("claimed", 1, STRANGER), "worker2.1")
    assert "I4" in found([FAILED_OVER, MADE, CLAIMED, taken])


def test_a_token_of_another_process_completes_nothing_after_a_failover_either() -> None:
    assert found([FAILED_OVER, MADE, CLAIMED, ADOPTED, end(7, NEW, STRANGER), GONE]) == ["I5"]


def test_a_former_life_claims_nothing_any_more() -> None:
    back = change(8, ("claimed", 1, NEW), ("pending", 1, None), "worker1.1")
    claimed = change(9, ("pending", 1, None), ("claimed", 2, FORMER), "worker1.1")
    assert found([FAILED_OVER, MADE, CLAIMED, ADOPTED, back, claimed]) == ["I3"]
