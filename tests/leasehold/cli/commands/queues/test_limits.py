from __future__ import annotations

import pytest

from leasehold.cli.commands.queues import parse_rate
from leasehold.errors import BadInput
from tests.leasehold.cli.conftest import Cli, Sql


def test_setting_and_dropping_tell_whether_they_changed_anything(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo', queue => 'crawl')")
    limit = ("queues", "limit", "crawl", "--max-running", "5", "--rate", "600/m", "--burst", "20")
    assert cli(*limit, "--output", "json").json() == {
        "queue": "crawl",
        "key_group": "",
        "limited": True,
        "changed": True,
    }
    assert cli(*limit, "--output", "text").out == "queue crawl was already limited\n"
    each = cli("queues", "limit", "crawl", "--group", "*", "--max-running", "1", "--output", "text")
    assert (each.out, each.err) == ("each group of queue crawl is now limited\n", "")
    drop = ("queues", "unlimit", "crawl", "--group", "tenant 7", "--output", "text")
    assert cli(*drop).out == "group tenant 7 of queue crawl was already without this limit\n"
    assert cli("queues", "unlimit", "crawl", "--output", "json").json() == {
        "queue": "crawl",
        "key_group": "",
        "limited": False,
        "changed": True,
    }


def test_the_limits_are_listed_with_their_use(cli: Cli) -> None:
    assert cli("queues", "limits", "--output", "json").json() == []
    cli("queues", "limit", "crawl", "--rate", "10/s", "--burst", "20")
    cli("queues", "limit", "crawl", "--group", "*", "--max-running", "2")
    cli("queues", "limit", "mail", "--max-running", "2")
    lines = cli("queues", "limits", "crawl", "--output", "text").out.splitlines()
    assert [line.split() for line in lines] == [
        ["queue", "group", "running", "of", "rate", "burst", "tokens", "next", "in"],
        ["crawl", "(all)", "0", "-", "10/s", "20", "20.0", "0ms"],
        ["crawl", "*", "0", "2", "-", "-", "-", "-"],
    ]


def test_what_is_no_limit_is_refused_in_words(cli: Cli) -> None:
    nothing = cli("queues", "limit", "crawl")
    assert (nothing.code, nothing.out) == (2, "")
    assert "a limit needs max_running, a rate, or both" in nothing.err
    assert "is no rate; write for example 10/s" in cli("queues", "limit", "crawl", "--rate", "fast").err


@pytest.mark.parametrize(
    ("text", "rate"),
    [("10", 10.0), ("10/s", 10.0), ("2.5/s", 2.5), ("600/m", 10.0), ("1/30s", 1 / 30), ("24/d", 1 / 3600)],
)
def test_a_rate_may_be_given_per_any_span(text: str, rate: float) -> None:
    assert parse_rate(text) == pytest.approx(rate)


@pytest.mark.parametrize("text", ["", "x", "-1/s", "1/0s", "1/x", "1/", "/s", "1e5"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is no rate"):
        parse_rate(text)
