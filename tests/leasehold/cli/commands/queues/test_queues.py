from __future__ import annotations

from tests.leasehold.cli.conftest import Cli, Sql

WORKER = """
select leasehold.register_worker('00000000-0000-0000-0000-000000000001', 'pod-1', 'host', 7, '0.1.0', '{parse}', '{}', 3, true)
"""


def test_pausing_and_resuming_tell_whether_they_changed_anything(cli: Cli) -> None:
    assert cli("queues", "pause", "crawl", "--output", "json").json() == {
        "queue": "crawl",
        "paused": True,
        "changed": True,
    }
    assert cli("queues", "pause", "crawl", "--output", "text").out == "queue crawl was already paused\n"
    assert cli("queues", "resume", "crawl", "--output", "text").out == "queue crawl is now running\n"
    assert cli("queues", "resume", "crawl", "--output", "json").json() == {
        "queue": "crawl",
        "paused": False,
        "changed": False,
    }


def test_two_queues_in_one_name_are_refused(cli: Cli) -> None:
    for words in (("pause",), ("resume",), ("age",), ("limit", "--max-running", "2"), ("unlimit",)):
        refused = cli("queues", *words, "mail,crawl")
        assert refused.code == 2
        assert refused.err == "error: queue has a comma, which stands between queues in settings: 'mail,crawl'\n"
    assert cli("wake", "mail,crawl").code == 2


def test_a_queue_that_nobody_knows_is_paused_with_a_note_that_names_the_nearest_known_one(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo', queue => 'crawl')")
    paused = cli("queues", "pause", "crwal", "--output", "text")
    assert (paused.code, paused.out) == (0, "queue crwal is now paused\n")
    assert paused.err == "note: no job and no worker knows a queue crwal; did you mean crawl?\n"
    assert cli("queues", "resume", "mail").err == "note: no job and no worker knows a queue mail\n"
    assert cli("wake", "crwal").err == paused.err


def test_a_queue_of_a_job_or_of_a_worker_needs_no_note(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo', queue => 'crawl')")
    sql(WORKER)
    said = [cli("queues", "pause", queue).err for queue in ("crawl", "parse", "default")]
    assert [*said, cli("queues", "resume", "crawl").err, cli("wake").err, cli("wake", "crawl").err] == [""] * 6


def test_queues_are_listed_with_their_jobs_their_workers_and_what_was_set(cli: Cli, sql: Sql) -> None:
    assert cli("queues", "list", "--output", "json").json() == []
    sql(
        "select leasehold.enqueue_job('echo', queue => 'crawl'); "
        "select leasehold.enqueue_job('echo', queue => 'crawl', run_at => leasehold.clock() + '1h')"
    )
    cli("queues", "pause", "mail", "--reason", "the provider is down")
    cli("queues", "limit", "crawl", "--max-running", "2")
    cli("queues", "age", "crawl", "5m")
    sql(WORKER)
    assert cli("queues", "list", "--output", "text").steady.splitlines() == [
        "queue  ready  later  held  failed  workers  note",
        "crawl      1      1     ·       ·     none  nobody serves echo; 1 limit; a priority more every 5m",
        "mail       ·      ·     ·       ·     none  paused 1d ago: the provider is down",
        "parse      ·      ·     ·       ·        1",
    ]
    crawl, mail, parse = cli("queues", "list", "--output", "json").json()
    assert (crawl["counts"], crawl["limits"], crawl["ageing_seconds"]) == ({"pending": 1, "scheduled": 1}, 1, 300.0)
    assert (crawl["unserved_kinds"], mail["unserved_kinds"]) == (["echo"], [])
    assert (mail["pause_reason"], parse["workers"]) == ("the provider is down", 1)
