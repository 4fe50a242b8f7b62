from __future__ import annotations

from typing import Any

import pytest

from leasehold.demo.stdlib_census.measures import FileMeasures
from leasehold.demo.summary import judge
from tests.leasehold.demo.runs import MEASURES, job, jobs, run

DISCOVERED, STUMBLED, RECOVERED, REPORTED = jobs()


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, []),
        ({"jobs": [DISCOVERED, STUMBLED, RECOVERED, job(4, "report", state="failed")]}, ["nothing lost"]),
        ({"plain": {**run().plain, "5.py": MEASURES}, "reported": {**run().plain, "5.py": MEASURES}}, ["nothing lost"]),
        ({"acknowledged": [1, 9]}, ["nothing lost"]),
        ({"jobs": [*jobs(), RECOVERED]}, ["nothing twice"]),
        ({"reported": {"2.py": MEASURES, "3.py": FileMeasures(lines=4, bytes=10)}}, ["same totals"]),
        ({"reported": {"2.py": MEASURES}}, ["same totals"]),
        ({"failures": run().failures[:2]}, ["killed worker"]),
        ({"jobs": [DISCOVERED, STUMBLED, job(3), REPORTED]}, ["killed worker"]),
        ({"failures": run().failures[1:]}, ["failing handler"]),
        ({"jobs": [DISCOVERED, job(2), RECOVERED, REPORTED]}, ["failing handler"]),
        ({"ended_badly": ["reaper"]}, ["orderly end"]),
    ],
)
def test_each_promise_can_be_broken(changes: dict[str, Any], broken: list[str]) -> None:
    assert [check.name for check in judge(run(**changes)) if not check.passed] == broken
