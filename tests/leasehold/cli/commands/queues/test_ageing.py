from __future__ import annotations

from tests.leasehold.cli.conftest import Cli, Sql


def test_a_queue_is_told_how_its_jobs_age_and_to_stop_it(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo', queue => 'mail')")
    age = ("queues", "age", "mail")
    assert cli(*age, "5m", "--output", "json").json() == {"queue": "mail", "every": 300.0, "changed": True}
    again = cli(*age, "300", "--output", "text")
    assert (again.out, again.err) == ("jobs of queue mail already gain a priority for every 5m that they wait\n", "")
    assert cli(*age, "--output", "json").json() == {"queue": "mail", "every": None, "changed": True}
    assert cli(*age, "--output", "text").out == "jobs of queue mail already keep the priority they were given\n"


def test_what_is_no_span_is_refused_in_words(cli: Cli) -> None:
    refused = cli("queues", "age", "mail", "soon")
    assert (refused.code, refused.out) == (2, "")
    assert "'soon' is no duration" in refused.err
    assert "jobs gain a priority every 1 second to 30 days" in cli("queues", "age", "mail", "500ms").err


def test_a_queue_that_nobody_knows_is_hinted_at(cli: Cli) -> None:
    assert "nail" in cli("queues", "age", "nail", "5m").err
