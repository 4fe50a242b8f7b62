"""deploy/monitoring: alerts and a board that speak of metrics that exist."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import pytest

from leasehold.observability.metrics import BY_NAME
from tests.deploy.files import DEPLOY, documents
from tests.support.waiting import PATIENCE
from tools.grafana_board import BOARD, PANELS, text

FOLDER = DEPLOY / "monitoring"
SUFFIX = re.compile(r"_(bucket|sum|count)$")
IMPLIED = {"le", "instance", "job"}


def rules() -> list[dict[str, Any]]:
    ((group,),) = (each["groups"] for each in documents(FOLDER / "leasehold.rules.yaml"))
    return group["rules"]


EXPRESSIONS = [each["expr"] for each in rules()] + [query for _, _, queries in PANELS for query, _ in queries]


def test_each_expression_asks_for_metrics_and_labels_that_exist() -> None:
    for expression in EXPRESSIONS:
        metrics = [BY_NAME[SUFFIX.sub("", each)] for each in re.findall(r"\bleasehold_\w+", expression)]
        assert metrics
        labels = {label for metric in metrics for label in metric.labels} | IMPLIED
        asked = re.findall(r"(\w+)=~?\"", expression) + re.findall(
            r"\w+", " ".join(re.findall(r"by \(([^)]*)\)", expression))
        )
        assert set(asked) <= labels


@pytest.mark.parametrize(
    "words", [("check", "rules", "leasehold.rules.yaml"), ("test", "rules", "leasehold.rules.test.yaml")]
)
def test_prometheus_accepts_the_alerts_and_they_come_when_they_should(words: tuple[str, ...]) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not here; Debian's package `prometheus` has it, and .ci/run installs it")
    done = subprocess.run(
        [promtool, *words], check=False, cwd=FOLDER, capture_output=True, text=True, timeout=PATIENCE * 2
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_is_tried() -> None:
    (tests,) = documents(FOLDER / "leasehold.rules.test.yaml")
    tried = {case["alertname"] for each in tests["tests"] for case in each["alert_rule_test"] if "exp_alerts" in case}
    assert tried == {each["alert"] for each in rules()}


def test_each_alert_is_explained() -> None:
    page = (FOLDER / "README.md").read_text()
    assert [each["alert"] for each in rules() if f"`{each['alert']}`" not in page] == []


def test_the_board_is_that_of_its_list() -> None:
    assert BOARD.read_text() == text(), "run python tools/grafana_board.py"
