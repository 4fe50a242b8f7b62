from __future__ import annotations

from tests.leasehold.cli.conftest import Cli, Sql

BLOCKED = """
select from leasehold.enqueue_jobs(
    '[{"kind": "part"}, {"kind": "part"}, {"kind": "report", "blockers": [{"position": 1}, {"position": 2}]}]')
"""


def test_chains_are_listed_newest_first_with_their_last_job(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('pay', queue => 'shop')")
    cli("chains", "complete", "1", "--next", "pack")
    sql("select leasehold.enqueue_job('echo')")
    cli("chains", "cancel", "3")
    assert cli("chains", "list", "--output", "text").steady == "\n".join(
        [
            "chain  state      kind  queue    jobs  last job          when",
            "    3  cancelled  echo  default     1  3 echo cancelled  ended 1d ago",
            "    1  open       pay   shop        2  2 pack pending    since 1d ago",
        ]
    )
    found = cli("chains", "list", "--state", "open", "--kind", "pay", "--queue", "shop", "--output", "json").json()
    assert [(each["chain_id"], each["job_id"]) for each in found] == [(1, 2)]


def test_pages_of_chains_follow_each_other_by_the_last_id(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo') from generate_series(1, 3)")
    first = cli("chains", "list", "--limit", "2")
    assert first.err == "more: --before 2\n"
    [last] = cli("chains", "list", "--limit", "2", "--before", "2", "--output", "json").json()
    assert last["chain_id"] == 1


def test_a_chain_is_drawn_job_after_job_with_what_each_waits_for(cli: Cli, sql: Sql) -> None:
    sql(BLOCKED)
    cli("chains", "complete", "1", "[1]")
    cli("chains", "cancel", "2")
    assert cli("chains", "show", "3", "--output", "text").steady == "\n".join(
        [
            "chain 3  open  1 job  since 1d ago",
            "",
            "○ 3  report  blocked  due 1d ago",
            "    waits for 2 cancelled",
            "    has waited for 1 completed",
        ]
    )
    assert cli("chains", "show", "2", "--output", "text").steady.endswith("waiting for it\n  job 3 report")
    cli("chains", "complete", "3", "--next", "send")
    cli("chains", "complete", "3", '{"to": "Ada"}')
    assert cli("chains", "show", "3", "--output", "text").steady == "\n".join(
        [
            "chain 3  completed  2 jobs  ended 1d ago",
            "",
            "● 3  report  completed  1d ago",
            "│   waits for 2 cancelled",
            "│   has waited for 1 completed",
            "● 4  send    completed  1d ago",
            "",
            "output",
            "  {",
            '    "to": "Ada"',
            "  }",
        ]
    )


def test_a_long_chain_is_shown_page_by_page(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('step')")
    for _ in range(3):
        cli("chains", "complete", "1", "--next", "step")
    shown = cli("chains", "show", "1", "--limit", "2")
    assert shown.err == "more: --after 1\n"
    report = cli("chains", "show", "1", "--after", "1", "--output", "json").json()
    assert ([job["id"] for job in report["jobs"]], report["chain"]["jobs"]) == ([3, 4], 4)


def test_a_chain_that_is_not_there_is_not_found(cli: Cli) -> None:
    for command in ("show", "complete"):
        done = cli("chains", command, "99")
        assert (done.code, "no chain 99" in done.err) == (3, True)


def test_waiting_prints_the_output(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('pay')")
    cli("chains", "complete", "1", '{"paid": 7}')
    assert cli("chains", "wait", "1", "--output", "json").json() == {"chain_id": 1, "output": {"paid": 7}}
    assert cli("chains", "wait", "1", "--output", "text").steady == '{\n  "paid": 7\n}'


def test_a_wait_in_vain_ends_with_a_code_of_its_own_and_one_for_a_cancelled_chain_says_why(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('pay')")
    done = cli("chains", "wait", "1", "--timeout", "10ms")
    assert (done.code, done.out) == (8, "")
    assert "chain 1 is still open after 0.01 s" in done.err
    assert "'' is no duration" in cli("chains", "wait", "1", "--timeout", "").err
    sql("select leasehold.cancel_chain(1, 'no money')")
    failed = cli("chains", "wait", "1")
    assert (failed.code, "chain 1 was cancelled: no money at job 1 (pay)" in failed.err) == (1, True)
