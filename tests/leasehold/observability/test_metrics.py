from __future__ import annotations

import builtins
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from leasehold.observability.metrics import (
    BY_NAME,
    METRICS,
    SECONDS,
    Histogram,
    HistogramValue,
    Metric,
    MetricsMissing,
    expose,
    single,
)
from tests.support.waiting import PATIENCE

ENDLESS = {"id", "job_id", "worker_id", "key", "args", "error", "message", "path", "user", "token"}
EVERY = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)


@EVERY
def test_names_follow_the_rules_of_prometheus(metric: Metric) -> None:
    assert re.fullmatch(r"leasehold_[a-z]+(_[a-z]+)*", metric.name)
    assert (metric.type == "counter") == metric.name.endswith("_total")
    assert not re.search(
        r"_(ms|millis|minutes|hours|kb|percent|count|sum|bucket|gauge|counter|histogram)$", metric.name
    )
    if metric.type == "histogram":
        assert metric.name.endswith("_seconds")
    assert metric.help.endswith(".")
    assert metric.help[0].isupper()


@EVERY
def test_labels_are_few_and_bounded(metric: Metric) -> None:
    assert len(metric.labels) <= 3
    assert not ENDLESS & set(metric.labels)
    assert all(re.fullmatch(r"[a-z]+", label) and label not in ("le", "quantile") for label in metric.labels)


def test_each_name_is_there_once() -> None:
    assert len(BY_NAME) == len(METRICS)


def everything() -> list[tuple[str, dict[tuple[str, ...], float | HistogramValue]]]:
    histogram = Histogram()
    histogram.add(0.3)
    values: list[tuple[str, dict[tuple[str, ...], float | HistogramValue]]] = []
    for metric in METRICS:
        labels = tuple('a"b\\c\nd' for _ in metric.labels)
        values.append((metric.name, {labels: histogram.value() if metric.type == "histogram" else 1.5}))
    return values


def test_what_is_exposed_can_be_read_back_with_labels_of_any_text() -> None:
    text, content_type = expose(everything())
    families = {family.name: family for family in text_string_to_metric_families(text.decode())}
    assert content_type.startswith("text/plain")
    for metric in METRICS:
        family = families[metric.name.removesuffix("_total")]
        assert family.type == metric.type
        assert family.documentation == metric.help
        assert all(value == 'a"b\\c\nd' for name, value in family.samples[0].labels.items() if name != "le")
    assert "process_resident_memory_bytes" in families


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_has_nothing_to_say() -> None:
    text, _ = expose(everything())
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, check=False, timeout=PATIENCE
    )
    assert (checked.returncode, checked.stderr) == (0, b"")


def test_histograms_are_cumulative_and_end_with_everything() -> None:
    text, _ = expose([("leasehold_job_run_seconds", {("q",): HistogramValue((0.1, 1.0), (1, 2, 1), 3.1)})])
    lines = [line for line in text.decode().splitlines() if line.startswith("leasehold_job_run_seconds")]
    assert lines == [
        'leasehold_job_run_seconds_bucket{le="0.1",queue="q"} 1.0',
        'leasehold_job_run_seconds_bucket{le="1.0",queue="q"} 3.0',
        'leasehold_job_run_seconds_bucket{le="+Inf",queue="q"} 4.0',
        'leasehold_job_run_seconds_count{queue="q"} 4.0',
        'leasehold_job_run_seconds_sum{queue="q"} 3.1',
    ]


def test_a_histogram_counts_each_value_below_the_next_bound() -> None:
    histogram = Histogram()
    for value in (0.1, 0.11, 0.11, 3601.0):
        histogram.add(value)
    found = histogram.value()
    assert (found.bounds, found.total) == (SECONDS, pytest.approx(3601.32))
    assert {bound: each for bound, each in zip((*SECONDS, None), found.counts, strict=True) if each} == {
        0.1: 1,
        0.25: 2,
        None: 1,
    }


def test_bounds_rise() -> None:
    assert list(SECONDS) == sorted(set(SECONDS))


def test_who_asks_for_openmetrics_gets_it() -> None:
    text, content_type = expose([("leasehold_up", single(1))], "application/openmetrics-text; version=1.0.0")
    assert content_type.startswith("application/openmetrics-text")
    assert text.endswith(b"# EOF\n")


def test_without_prometheus_client_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    really = builtins.__import__

    def refuse(name: str, *args: Any, **named: Any) -> Any:
        if name.startswith("prometheus_client"):
            raise ImportError(name)
        return really(name, *args, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MetricsMissing, match=r"pip install 'leasehold\[metrics\]'"):
        expose([])


def test_nothing_of_it_is_imported_before_somebody_asks() -> None:
    code = "import sys, leasehold.gateway.serving.serve, leasehold.actors.probes; print('prometheus_client' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert told.stdout == "False\n"
