from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from leasehold.gateway.access.identities import ANONYMOUS, Identity, Scope, scopes_of
from leasehold.gateway.http.fields import Page
from leasehold.gateway.http.problems import Refusal
from leasehold.gateway.routing.hiding import Hiding
from leasehold.records.jobs import TimelineEntry
from leasehold.settings.settings import HIDDEN_KEYS

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
READER = Identity(name="ada", scopes=scopes_of(["read"]))
HIDING = Hiding(HIDDEN_KEYS)


def content(value: Any, kind: str | None = None, hiding: Hiding = HIDING) -> Any:
    """What is shown of the args of a job of this kind, or of an unknown one."""
    answer: Any = hiding.answer({"kind": kind, "args": value})
    return answer["args"]


def test_values_under_telling_keys_are_hidden_at_any_depth() -> None:
    for key in [
        "password",
        "db_password",
        "Passwd",
        "client_secret",
        "token",
        "access_token",
        "accessToken",
        "API_KEY",
        "x-apikey",
        "private_key_pem",
        "AWS_CREDENTIALS",
        "Authorization",
        "cookie",
        "Set-Cookie",
    ]:
        assert content({"a": [{key: {"x": 1}, "b": "seen"}]}) == {"a": [{key: "[hidden]", "b": "seen"}]}


@pytest.mark.parametrize("key", ["token_count", "tokens", "order", "passed", "cookies_eaten", "key", ""])
def test_other_keys_are_not(key: str) -> None:
    assert content({key: "seen"}) == {key: "seen"}


def test_null_stays_null_and_other_json_is_left_alone() -> None:
    for value in (None, 7, "password", [], {}, {"password": None}, [1, [2]]):
        assert content(value) == value


def test_only_contents_are_looked_through() -> None:
    entry = TimelineEntry(at=NOON, event="edited", attempt=1, worker_id=None, message="password", detail={"token": "x"})
    page: Any = HIDING.answer(Page([entry]))
    assert (page.items[0].detail, page.items[0].message) == ({"token": "[hidden]"}, "password")
    assert HIDING.answer([{"secret": 1, "args": {"secret": 1}}]) == [{"secret": 1, "args": {"secret": "[hidden]"}}]
    assert HIDING.answer(b"bytes") == b"bytes"


def test_what_task_workers_read_beside_the_contents_is_hidden_as_it_is_in_them() -> None:
    task = {"platform": "dutchie", "metadata": {"platform": "dutchie"}, "state_code": {"token": "x"}, "role": "r"}
    hidden = {**task, "state_code": {"token": "[hidden]"}}
    assert HIDING.answer(task) == hidden
    assert Hiding(["platform"]).answer(task) == {**task, "platform": "[hidden]", "metadata": {"platform": "[hidden]"}}
    assert Hiding(["*"]).answer({"state_code": None, "platform": "a"}) == {"state_code": None, "platform": "[hidden]"}


def test_whoever_changes_jobs_sees_everything() -> None:
    assert HIDING.concerns(READER)
    assert HIDING.concerns(Identity(name="shop", scopes=scopes_of(["read", "enqueue"])))
    for scope in (Scope.OPERATE, Scope.ADMIN):
        assert not HIDING.concerns(Identity(name="ada", scopes=scopes_of([scope.value])))
    assert not HIDING.concerns(ANONYMOUS)
    assert not Hiding(()).concerns(READER)


CASES: list[tuple[str, str]] = [
    ("login with password=hunter2 failed", "login with password=[hidden] failed"),
    ("{'api_key': 'abc def', 'order': 7}", "{'api_key': [hidden], 'order': 7}"),
    ('{"access_token": "a\\"b", "x": 1}', '{"access_token": [hidden], "x": 1}'),
    ("GET /?token=abc&page=2", "GET /?token=[hidden]&page=2"),
    ("Authorization: Bearer abc.def\nnext: line", "Authorization: [hidden]\nnext: line"),
    ("> Cookie: a=1; b=2", "> Cookie: [hidden]"),
    ("cannot reach postgresql://ada:secret@db:5432/shop", "cannot reach postgresql://ada:[hidden]@db:5432/shop"),
    ("token_count: 7, at 12:30:00 in x.py:12", "token_count: 7, at 12:30:00 in x.py:12"),
    ("db_password = 'a' ; client_secret=b", "db_password = [hidden] ; client_secret=[hidden]"),
    ("no secret here", "no secret here"),
    ("password:" * 20_000, "password:[hidden]"),
]


def test_text_does_not_tell_what_stands_beside_a_hidden_key() -> None:
    for text, shown in CASES:
        assert content(text).startswith(shown)
        assert content({"args": [text]})["args"][0] == content(text)


def test_messages_tracebacks_and_explanations_are_texts() -> None:
    for field in ("message", "traceback", "explanation", "last_message", "last_error"):
        assert HIDING.answer({field: "password=x"}) == {field: "password=[hidden]"}
    assert HIDING.answer({"message": None, "name": "password=x"}) == {"message": None, "name": "password=x"}


def test_a_kind_hides_more_in_its_own_jobs_and_where_nobody_says_whose_they_are() -> None:
    hiding = Hiding(HIDDEN_KEYS, ["charge:*iban", "charge:amount", "mail:address"])
    told = {"IBAN": "DE1", "amount": 5, "address": "a@b", "token": "x"}
    assert content(told, "charge", hiding) == told | {"IBAN": "[hidden]", "amount": "[hidden]", "token": "[hidden]"}
    assert content(told, "mail", hiding) == told | {"address": "[hidden]", "token": "[hidden]"}
    assert content(told, "other", hiding) == told | {"token": "[hidden]"}
    assert content(told, None, hiding) == dict.fromkeys(told, "[hidden]")
    assert Hiding((), ["charge:iban"]).concerns(READER)
    with pytest.raises(Refusal, match="hidden"):
        hiding.refuse_search(READER, {"address": "a@b"}, "query.args")
