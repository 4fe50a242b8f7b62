from __future__ import annotations

from msgspec.structs import replace

from faults.checker.charges import judge_charges
from faults.history.history import History
from faults.history.records import Entry
from tests.faults.checker.test_fencing import FORMER, WORKERS, change, end

MADE = replace(change(1, (None, 0, None), ("pending", 0, None), "client"), kind="plain")
CLAIMED = replace(change(2, ("pending", 0, None), ("claimed", 1, FORMER), "worker1.1"), kind="plain")
BACK = replace(change(3, ("claimed", 1, FORMER), ("scheduled", 1, None), "worker1.1"), kind="plain")
FAILED = replace(end(3, FORMER, FORMER), state="failed", error="DatabaseUnavailable", kind="plain")


def found(*entries: Entry) -> list[str]:
    return [each.rule for each in judge_charges(History([*WORKERS, MADE, CLAIMED, *entries]))]


def test_an_attempt_that_could_not_fail_is_charged_where_its_worker_gives_it_back_and_does_not_spare_it() -> None:
    assert found(BACK) == ["I12"]
    assert found(replace(BACK, spared=1)) == []


def test_whoever_takes_a_job_back_whose_lease_has_run_out_or_whose_worker_died_may_charge_it() -> None:
    assert found(replace(BACK, old_lease=2.5)) == []
    assert found(replace(BACK, by="leasehold reaper @reaper.1")) == []


def test_nothing_that_cannot_fail_ends_for_good_and_of_an_outage_no_effect_does() -> None:
    assert found(FAILED) == ["I12"]
    assert found(replace(FAILED, kind="pay")) == ["I12"]
    assert found(replace(FAILED, kind="pay", error="LockTimeout")) == []
    assert found(replace(FAILED, kind="hopeless")) == []
