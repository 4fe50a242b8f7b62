from __future__ import annotations

from tests.leasehold.cli.conftest import Cli


def test_an_identity_is_added_listed_tested_and_retired(cli: Cli) -> None:
    flags = ("--proxy", "http://127.0.0.1:1", "--proxy-user", "me", "--password-from", "PROXY_PASSWORD")
    secret = {"PROXY_PASSWORD": "hunter2"}
    added = cli("egress", "add", "berlin", "--locale", "de-DE", *flags, "--output", "json", environ=secret)
    assert added.json() == {"identity_id": 1, "name": "berlin"}
    listed = cli("egress", "list", "--output", "text", environ={"COLUMNS": "200"})
    assert "berlin" in listed.out
    assert "http://127.0.0.1:1 as me" in listed.out
    refused = cli("egress", "test", "berlin", "http://127.0.0.1:1/", "--output", "json")
    tested = refused.json()
    assert (refused.code, tested["status"], tested["state"]) == (1, None, "cooling")
    assert tested["problem"].startswith("the proxy failed")
    again = cli("egress", "test", "berlin", "http://127.0.0.1:1/")
    assert (again.code, "egress identity berlin is unknown, retired or not free right now" in again.err) == (4, True)
    assert cli("egress", "retire", "berlin", "--output", "json").json()["changed"] is True
    assert cli("egress", "list", "--output", "json").json() == []
    assert "hunter2" not in listed.out + cli("egress", "list", "--all").out


def test_a_password_comes_from_the_environment_alone(cli: Cli) -> None:
    missing = cli(
        "egress", "add", "a", "--proxy", "http://proxy.example", "--proxy-user", "me", "--password-from", "NOPE"
    )
    assert (missing.code, "environment variable NOPE is not set" in missing.err) == (2, True)
    inside = cli("egress", "add", "a", "--proxy", "http://me:pw@proxy.example")
    assert (inside.code, "without user and password" in inside.err) == (2, True)
