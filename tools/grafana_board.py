"""Write the Grafana board, deploy/monitoring/grafana.json, from the list of its panels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BOARD = Path(__file__).parents[1] / "deploy" / "monitoring" / "grafana.json"
SOURCE = {"type": "prometheus", "uid": "${source}"}
ENDED = 'sum by (state) (max by (queue, state) (rate(leasehold_jobs_ended_total{queue=~"$queue"}[$__rate_interval])))'
BUCKETS = 'max by (queue, le) (rate(leasehold_job_{what}_seconds_bucket{{queue=~"$queue"}}[$__rate_interval]))'

Query = tuple[str, str]  # the expression, and the name of its line


def quantiles(what: str) -> tuple[Query, ...]:
    """Median, 95th and 99th of a hundred, of the waits or of the runs."""
    buckets = BUCKETS.format(what=what)
    return tuple((f"histogram_quantile({q}, sum by (le) ({buckets}))", f"p{q * 100:.0f}") for q in (0.5, 0.95, 0.99))


PANELS: tuple[tuple[str, str, tuple[Query, ...]], ...] = (
    ("Jobs by state", "short", (
        ('sum by (state) (max by (queue, state) (leasehold_jobs{queue=~"$queue"}))', "{{state}}"),
    )),
    ("Oldest job that could run", "s", (
        ('max by (queue) (leasehold_oldest_ready_job_seconds{queue=~"$queue"})', "{{queue}}"),
    )),
    ("Jobs in and out, per second", "short", (
        ('sum(max by (queue) (rate(leasehold_jobs_enqueued_total{queue=~"$queue"}[$__rate_interval])))', "enqueued"),
        (ENDED, "{{state}}"),
    )),
    ("Retries, per second", "short", (
        ('max by (queue) (rate(leasehold_jobs_retried_total{queue=~"$queue"}[$__rate_interval]))', "{{queue}}"),
    )),
    ("Wait until the start", "s", quantiles("wait")),
    ("Time of attempts", "s", quantiles("run")),
    ("Workers", "short", (
        ("max by (state) (leasehold_workers)", "{{state}}"),
        ("max(leasehold_workers_deaf)", "deaf"),
        ("max(leasehold_workers_backing_off)", "backing off"),
    )),
    ("Slots", "short", (
        ("max(leasehold_worker_slots)", "of ready workers"),
        ("max(leasehold_jobs_held)", "jobs held"),
        ("max(leasehold_jobs_overdue)", "leases run out"),
    )),
    ("Leases lost and event loops blocked, in five minutes", "short", (
        ("sum by (instance) (increase(leasehold_worker_leases_lost_total[5m]))", "lost {{instance}}"),
        ("sum by (instance) (increase(leasehold_worker_loop_blocked_total[5m]))", "blocked {{instance}}"),
    )),
    ("Requests to gateways, per second", "short", (
        ("sum by (status) (rate(leasehold_http_requests_total[$__rate_interval]))", "{{status}}"),
    )),
)  # fmt: skip


def panel(number: int, title: str, unit: str, queries: tuple[Query, ...]) -> dict[str, Any]:
    """One chart; two stand side by side."""
    targets = [
        {"refId": chr(ord("A") + at), "datasource": SOURCE, "expr": expression, "legendFormat": name}
        for at, (expression, name) in enumerate(queries)
    ]
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": title,
        "datasource": SOURCE,
        "gridPos": {"h": 8, "w": 12, "x": 12 * (number % 2), "y": 8 * (number // 2)},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": targets,
    }


def board() -> dict[str, Any]:
    """The board as Grafana imports it."""
    queues = {
        "name": "queue", "type": "query", "label": "Queue", "datasource": SOURCE, "refresh": 2,
        "query": "label_values(leasehold_jobs, queue)", "multi": True, "includeAll": True, "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }  # fmt: skip
    source = {"name": "source", "type": "datasource", "label": "Prometheus", "query": "prometheus"}
    return {
        "uid": "leasehold",
        "title": "leasehold",
        "tags": ["leasehold"],
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [source, queues]},
        "panels": [panel(number, *each) for number, each in enumerate(PANELS)],
    }


def text() -> str:
    """The file."""
    return json.dumps(board(), indent=2) + "\n"


if __name__ == "__main__":
    BOARD.write_text(text())
