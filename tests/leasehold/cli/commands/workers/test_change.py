from __future__ import annotations

import re

import pytest

from tests.leasehold.cli.commands.workers.test_read import WORKER
from tests.leasehold.cli.conftest import Cli, Sql
from tests.support.processes import LeaseholdProcess, StartProcess

APP = "tests.support.fault_app:app"


@pytest.fixture
def process(start_process: StartProcess, database_url: str) -> LeaseholdProcess:
    """A worker called w1, alias ada, with two slots."""
    process = start_process(
        ["run", "worker", "--log-format", "text"],
        {
            "LEASEHOLD_DATABASE_URL": database_url,
            "LEASEHOLD_WORKER_ID": "w1",
            "LEASEHOLD_WORKER_NAME": "ada",
            "LEASEHOLD_APP": APP,
            "LEASEHOLD_SLOTS": "2",
            "LEASEHOLD_LOG_LEVEL": "debug",  # it says what it has claimed
        },
    )
    process.wait_for_line("starting worker w1 (ada) for role (all) with 2 slots")
    return process


def test_a_worker_does_what_it_is_told_and_says_so(cli: Cli, process: LeaseholdProcess) -> None:
    def told(*tokens: str) -> str:
        shown = cli("workers", *tokens, "--output", "text")
        assert (shown.code, shown.err) == (0, "")
        return shown.out

    assert cli("enqueue", "hold", '{"seconds": 600}').code == 0
    process.wait_for_line("claimed job 1 of kind hold")
    assert told("pause", "ada") == "worker w1 is now paused; 1 job goes on\n"
    assert told("resume", "w1") == "worker w1 is now ready; 1 job goes on\n"
    assert told("scale", "ad", "5") == "worker w1 runs 5 jobs at once now, before 2\n"
    stacks = told("stacks", "ada", "--job", "1").splitlines()
    assert stacks[:2] == ["job 1 (hold)", "trio task"]
    assert "in hold" in stacks[2]
    # A start is written some moments later, together with others.
    assert re.fullmatch(r"worker w1 cancelled job 1, which was (claimed|running)\n", told("cancel-job", "ada", "1"))
    process.wait_for_line("job 1 attempt 1: lease lost (cancelled)")
    assert told("stacks", "ada") == "worker w1 runs nothing\n"
    assert told("decommission", "ada", "--wait", "30s") == "worker w1 has ended\n"
    assert process.wait() == 0
    for line in (
        "told to pause",
        "told to set concurrency slots 5",
        "told to cancel job job_id 1",
        "worker w1 stopped",
    ):
        process.wait_for_line(line)
    commands = cli("workers", "show", "w1", "--output", "text").out
    assert [line.split()[1] for line in re.findall(r"^\d+ .*$", commands, re.MULTILINE)] == [
        "decommission",
        "dump_stacks",
        "cancel_job",
        "dump_stacks",
        "set_concurrency",
        "resume",
        "pause",
    ]


def test_programs_get_the_answer_as_it_is_and_what_a_worker_could_not_do_is_a_failure(
    cli: Cli, process: LeaseholdProcess
) -> None:
    refused = cli("workers", "cancel-job", "w1", "77")
    assert (refused.code, refused.out) == (4, "")
    assert "worker w1 does not hold job 77" in refused.err
    assert cli("workers", "scale", "w1", "3", "--output", "json").json() == {
        "worker_id": "w1",
        "command": "set_concurrency",
        "command_id": 2,
        "state": "done",
        "result": {"was": 2, "slots": 3},
    }
    assert cli("workers", "stacks", "w1", "--output", "json").json() == {"worker_id": "w1", "stacks": []}
    assert cli("workers", "decommission", "w1", "--output", "json").json() == {
        "worker_id": "w1",
        "command": "decommission",
        "command_id": 4,
        "state": "done",
        "result": {"state": "draining", "running": []},
    }
    assert process.wait() == 0


def test_a_worker_that_does_not_answer_a_dead_one_and_none(cli: Cli, sql: Sql) -> None:
    sql(WORKER)
    silent = cli("workers", "pause", "brave-otter", "--timeout", "20ms")
    assert silent.code == 8
    assert "command 1 is pending after 0.02 s; it goes on" in silent.err
    sql("update leasehold.workers set heartbeat_at = heartbeat_at - interval '1 hour'")
    dead = cli("workers", "pause", "brave-otter")
    assert dead.code == 4
    assert "worker pod-1 was last heard of at" in dead.err
    assert cli("workers", "pause", "nobody").code == 3
    assert cli("workers", "scale", "pod-1", "0").code == 2
