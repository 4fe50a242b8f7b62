from __future__ import annotations

from tests.leasehold.cli.conftest import Cli, Psql

WORKER = """
select leasehold.register_worker('00000000-0000-0000-0000-000000000001', 'pod-1', 'host-1', 77, '0.1.0', '{crawl}', '{}', 3, true)
"""


def test_an_empty_database_has_no_jobs_and_no_workers(cli: Cli) -> None:
    assert cli("status", "--output", "text").out == "no jobs\n\nno workers: leasehold run worker\n"
    assert cli("status").json() == {"queues": [], "paused": [], "workers": []}


def test_queues_are_shown_by_state_with_the_reason_of_a_pause_and_the_workers(
    cli: Cli, psql: Psql, database_url: str
) -> None:
    for queue in ("crawl", "crawl", "parse"):
        cli("enqueue", "echo", "--queue", queue)
    cli("enqueue", "echo", "--queue", "parse", "--delay", "1h")
    cli("queues", "pause", "idle", "--reason", "not needed")
    psql(database_url, WORKER)
    assert cli("status", "--output", "text").steady == "\n".join(
        [
            "queue  pending  scheduled  waiting  claimed  running  completed  failed  cancelled",
            "crawl        2          ·        ·        ·        ·          ·       ·          ·",
            "parse        1          1        ·        ·        ·          ·       ·          ·",
            "all          3          1        ·        ·        ·          ·       ·          ·",
            "",
            "paused queue  since   reason",
            "idle          1d ago  not needed",
            "",
            "worker  state  slots  queues  process    heartbeat",
            "pod-1   ready    0/3  crawl   host-1:77  1d ago",
        ]
    )


def test_programs_get_the_counts_as_they_are(cli: Cli) -> None:
    cli("enqueue", "echo")
    report = cli("status").json()
    assert report == {"queues": [{"queue": "default", "state": "pending", "jobs": 1}], "paused": [], "workers": []}
