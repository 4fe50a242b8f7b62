from __future__ import annotations

from tests.leasehold.cli.conftest import Cli, Sql

REGISTER = """
select leasehold.register_worker('00000000-0000-0000-0000-000000000001', 'pod-1', 'host', 1, '0', '{}', '{}', 3, true);
"""


def test_the_first_line_answers_in_one_sentence(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo')")
    done = cli("jobs", "why", "1", "--output", "text")
    assert (done.code, done.out, done.err) == (0, "job 1 is pending: no worker is alive\n", "")


def test_every_reason_has_a_line_below(cli: Cli, sql: Sql) -> None:
    sql(REGISTER)
    sql("select leasehold.enqueue_job('echo', run_at => leasehold.clock() + '1h', queue => 'crawl')")
    cli("queues", "pause", "crawl", "--reason", "the shop \x1b[31masked us to")
    lines = cli("jobs", "why", "1", "--output", "text").out.splitlines()
    assert lines[0].startswith("job 1 is scheduled: its time is ")
    assert lines[1] == ""
    assert lines[2].split() == ["reason", "until", "explanation"]
    assert [line.split()[0] for line in lines[3:]] == ["scheduled", "paused"]
    assert lines[4].endswith(r": the shop \x1b[31masked us to")  # what people wrote cannot drive the terminal


def test_programs_get_the_facts(cli: Cli, sql: Sql) -> None:
    sql(REGISTER)
    sql("select leasehold.enqueue_job('echo') from generate_series(1, 3)")
    report = cli("jobs", "why", "3", "--output", "json").json()
    assert (report["job_id"], report["state"]) == (3, "pending")
    assert [each["reason"] for each in report["reasons"]] == ["behind"]
    assert report["reasons"][0]["facts"]["jobs"] == 2


def test_a_terminal_gets_colours(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo', run_at => leasehold.clock() + '1h')")
    environ = {"NO_COLOR": "", "TERM": "xterm-256color"}
    assert "\x1b[1;31munserved" in cli("jobs", "why", "1", "--output", "text", terminal=True, environ=environ).out


def test_a_job_that_ended_says_how(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo')")
    cli("jobs", "cancel", "1", "--reason", "wrong shop")
    done = cli("jobs", "why", "1", "--output", "text")
    assert done.out.startswith("job 1 is cancelled: it was cancelled at ")
    assert "wrong shop; a retry runs it after all" in done.out


def test_looking_at_a_job_that_is_slow_to_start_names_the_command(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo')")
    assert cli("jobs", "show", "1").err == "why it is not running: leasehold jobs why 1\n"
    cli("jobs", "cancel", "1")
    assert cli("jobs", "show", "1").err == ""
