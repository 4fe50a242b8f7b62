from __future__ import annotations

import re

from leasehold.access.tokens import is_token
from tests.leasehold.cli.conftest import Cli, Sql, Transcript


def secret_of(transcript: Transcript) -> str:
    return transcript.json()["secret"]


def test_a_token_is_printed_once_and_alone_on_standard_output(cli: Cli) -> None:
    made = cli("tokens", "create", "shop", "--scope", "enqueue", "--output", "text")
    [secret] = made.out.splitlines()
    assert made.code == 0
    assert is_token(secret)
    told = made.err.splitlines()
    assert told[-2:] == ["token 1 of shop; it is shown this once", "use it as  Authorization: Bearer TOKEN"]
    assert secret not in made.err + cli("tokens", "list", "--output", "text").out


def test_the_first_one_says_that_from_now_on_everybody_needs_one(cli: Cli) -> None:
    assert "a gateway serves nobody without one" in cli("tokens", "create", "shop", "--scope", "admin").err
    assert cli("tokens", "create", "other", "--scope", "read", "--output", "json").err == ""


def test_who_revokes_the_last_one_hears_that_loopback_is_open_again(cli: Cli) -> None:
    for name in ("shop", "other"):
        cli("tokens", "create", name, "--scope", "admin")
    assert cli("tokens", "revoke", "shop").err == ""
    assert "a gateway on loopback serves everybody" in cli("tokens", "revoke", "other").err


def test_who_revokes_the_last_active_one_hears_which_expired_ones_keep_gateways_closed(cli: Cli, sql: Sql) -> None:
    for name in ("old", "shop"):
        cli("tokens", "create", name, "--scope", "admin")
    expire = "created_at = now() - interval '2 s', expires_at = now() - interval '1 s'"
    sql(f"update leasehold.api_tokens set {expire} where id = 1")
    assert "until those that have expired are revoked, too: 1 (old)\n" in cli("tokens", "revoke", "shop").err
    ended = cli("tokens", "revoke", "old")
    assert ended.out == "old: token 1 had expired and is revoked now\n"
    assert "a gateway on loopback serves everybody" in ended.err
    again = cli("tokens", "revoke", "old")
    assert (again.out, again.err) == ("no token of old was active\n", "")


def test_where_the_settings_have_a_token_the_first_in_the_database_changes_nothing(cli: Cli) -> None:
    of_settings = {"LEASEHOLD_GATEWAY_TOKEN": "t" * 43}
    made = cli("tokens", "create", "shop", "--scope", "read", "--output", "json", environ=of_settings)
    assert (made.code, made.err) == (0, "")


def test_as_json_it_can_be_taken_on(cli: Cli) -> None:
    assert cli("tokens", "list", "--output", "json").json() == []
    made = cli("tokens", "create", "shop", "--scope", "enqueue,read", "--output", "json").json()
    assert is_token(made.pop("secret"))
    assert made == {"token_id": 1, "name": "shop", "also_active": []}
    [token] = cli("tokens", "list", "--output", "json").json()
    assert (token["scopes"], token["state"]) == (["enqueue", "read"], "active")
    assert set(token) >= {"prefix", "created_by", "expires_at", "last_used_at"}
    assert "hash" not in token


def test_the_list_for_people(cli: Cli) -> None:
    cli("tokens", "create", "shop", "--scope", "enqueue", "--scope", "read", "--expires-in", "90d")
    [head, row] = cli("tokens", "list", "--output", "text", environ={"COLUMNS": "200"}).steady.splitlines()
    assert head.split() == ["id", "name", "begins", "scopes", "state", "last", "used", "expires", "made", "by"]
    assert re.fullmatch(r" *1\s+shop\s+lh_\w{6}…\s+enqueue,read\s+active\s+never\s+<instant>\s+\S+@\S+", row)


def test_a_second_token_takes_over_and_the_first_is_revoked(cli: Cli) -> None:
    first = secret_of(cli("tokens", "create", "shop", "--scope", "read", "--output", "json"))
    rotated = cli("tokens", "rotate", "shop", "--output", "text")
    assert first != rotated.out.strip()
    assert rotated.err.splitlines()[-1] == "still active: 1; end it with  leasehold tokens revoke 1"
    third = cli("tokens", "rotate", "shop")
    assert (third.code, "two tokens named shop are active already" in third.err) == (4, True)
    revoked = cli("tokens", "revoke", "1", "--output", "text")
    assert revoked.out == "shop: token 1 revoked; gateways refuse it within a second\n"
    listed = cli("tokens", "list", "--all", "--output", "json").json()
    assert [(each["token_id"], each["state"]) for each in listed] == [(2, "active"), (1, "revoked")]


def test_a_name_with_two_active_tokens_is_refused_with_both_of_them_unless_all_are_meant(cli: Cli) -> None:
    cli("tokens", "create", "shop", "--scope", "read")
    cli("tokens", "rotate", "shop")
    refused = cli("tokens", "revoke", "shop")
    assert (refused.code, refused.out) == (2, "")
    assert re.search(
        r"shop may be any of 2 active tokens: 1 \(shop, lh_\w{6}…, never used\); 2 \(shop, lh_\w{6}…, never used\)",
        refused.err,
    )
    assert "leasehold tokens revoke 1, or all with --all" in refused.err
    assert cli("tokens", "revoke", "shop", "--all", "--output", "json").json()["revoked"] == [1, 2]
    assert cli("tokens", "revoke", "shop", "--output", "text").out == "no token of shop was active\n"


def test_what_was_done_with_tokens_can_be_read(cli: Cli) -> None:
    assert cli("tokens", "log", "--output", "json").json() == []
    cli("tokens", "create", "shop", "--scope", "read")
    cli("tokens", "revoke", "shop")
    [_, revoked, created] = cli("tokens", "log", "--output", "text", environ={"COLUMNS": "250"}).steady.splitlines()
    assert re.search(r'\s\S+@\S+\s+-\s+revoke_token \{"id": 1, "name": "shop"\}$', revoked)
    assert "create_token" in created


def test_a_name_that_is_not_there_is_met_with_the_one_that_may_have_been_meant(cli: Cli) -> None:
    cli("tokens", "create", "crawler", "--scope", "read")
    for command in ("revoke", "rotate"):
        answer = cli("tokens", command, "crawlr")
        assert (answer.code, answer.out) == (3, "")
        assert "did you mean crawler?" in answer.err
    assert "there is no token 7" in cli("tokens", "revoke", "7").err


def test_a_token_is_revoked_by_its_beginning(cli: Cli) -> None:
    secret = secret_of(cli("tokens", "create", "shop", "--scope", "read", "--output", "json"))
    cli("tokens", "rotate", "shop")
    assert cli("tokens", "revoke", secret[:9], "--output", "json").json()["revoked"] == [1]
    assert cli("tokens", "revoke", "shop", "--output", "json").json()["revoked"] == [2]


def test_what_is_no_scope_and_no_name_is_refused_in_words(cli: Cli) -> None:
    for tokens, complaint in [
        (("shop", "--scope", "root"), "'root' is no scope; there are enqueue, read, operate, admin"),
        (("shop", "--scope", ""), "at least one scope"),
        (("shop", "--scope", "read", "--expires-in", "soon"), "is no duration"),
    ]:
        answer = cli("tokens", "create", *tokens)
        assert (answer.code, answer.out) == (2, "")
        assert complaint in answer.err
    assert cli("tokens", "create", "shop").code == 2


def test_no_secret_is_in_the_log_the_database_or_what_debugging_shows(cli: Cli, sql: Sql) -> None:
    made = cli("tokens", "create", "shop", "--scope", "read", "--log-level", "debug", "--verbose", "--output", "json")
    secret = secret_of(made)
    assert secret not in made.err
    assert made.out.count(secret) == 1
    dump = sql("select * from leasehold.api_tokens; select * from leasehold.audit_log")
    assert secret not in dump
    assert secret[9:] not in dump
