from __future__ import annotations

from datetime import date

import pytest

from leasehold.cli.checkup import check_schema, days_with_partitions, judge_days
from leasehold.cli.services import schema_problem
from leasehold.migrations import SchemaState

TODAY = date(2030, 12, 31)


def names(*days: str) -> set[str]:
    return {f"{parent}_{day}" for parent in ("finished_jobs", "job_events") for day in days}


def test_days_count_from_today_until_the_first_gap() -> None:
    assert days_with_partitions(names("20301230"), TODAY) == 0
    assert days_with_partitions(names("20301231", "20310101", "20310103"), TODAY) == 2
    assert days_with_partitions(names("20301231") | {"finished_jobs_20310101"}, TODAY) == 1


def test_partitions_that_run_out_are_a_problem() -> None:
    assert judge_days(1).verdict == "problem"
    assert judge_days(2).verdict == "ok"


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        (SchemaState(status="missing", version=0, expected=2), "problem"),
        (SchemaState(status="older", version=1, expected=2), "problem"),
        (SchemaState(status="same", version=2, expected=2), "ok"),
        (SchemaState(status="same", version=2, expected=2, differing=("function wake",)), "problem"),
        (SchemaState(status="newer", version=3, expected=2), "ok"),
        (SchemaState(status="newer", version=3, expected=2, breaking=True), "problem"),
    ],
)
def test_the_schema_is_judged_by_its_version_and_what_differs(state: SchemaState, verdict: str) -> None:
    check = check_schema(state)
    assert check.verdict == verdict
    assert (check.advice is None) == (verdict == "ok")


def test_a_newer_schema_that_breaks_nothing_can_be_worked_with() -> None:
    assert schema_problem(SchemaState(status="newer", version=3, expected=2)) is None
