from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from leasehold import App, NewJob, open_client
from leasehold.database import Database
from leasehold.errors import BadInput, Conflict, UniqueConflict
from leasehold.jobs.encoding import check_job, encode_continuation, encode_document
from leasehold.jobs.endings import ContinueWith
from leasehold.jobs.new_job import Unique
from leasehold.records.jobs import ANY_STATE, HELD, QUEUED, UNFINISHED


def shop() -> App:
    app = App()

    @app.kind(unique=Unique(by=("kind", "args.shop")))
    async def crawl(shop: int, page: int = 1) -> None:
        """Unique by its shop."""

    assert crawl.name == "crawl"
    return app


def encoded(unique: Unique) -> str:
    return encode_document([NewJob(kind="a", unique=unique)])


@pytest.mark.parametrize(
    ("unique", "expected"),
    [
        (Unique(), "{}"),
        (Unique(by=("kind", "args.shop")), '{"by":["kind","args.shop"]}'),
        (Unique(key="k", window=timedelta(minutes=1)), '{"key":"k","window":60.0}'),
        (Unique(states=QUEUED), '{"states":["pending","scheduled","waiting","blocked"]}'),
        (
            Unique(scope="chain", exclude=(7,), on_conflict="reject"),
            '{"scope":"chain","exclude":[7],"on_conflict":"reject"}',
        ),
    ],
    ids=str,
)
def test_only_what_is_said_is_sent(unique: Unique, expected: str) -> None:
    assert encoded(unique) == f'[{{"kind":"a","args":{{}},"unique":{expected}}}]'


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"by": ("kind",), "key": "k"}, "unique takes by or key, not both"),
        ({"by": "kind"}, "by and states are lists of names, not 'kind'"),
        ({"states": "pending"}, "by and states are lists of names, not 'pending'"),
        ({"window": 0}, "window must be more than 0 seconds, not 0"),
        ({"window": timedelta(seconds=-1)}, r"window must be more than 0 seconds, not -1\.0"),
        ({"window": float("nan")}, "window must be more than 0 seconds, not nan"),
        ({"window": "1h"}, r"unique\.window must be a number of seconds or a timedelta, not '1h'"),
        ({"by": ("nonsense",)}, r"unique\.by takes kind, .* and args\.FIELD, not 'nonsense'"),
        ({"by": ("args.",)}, r"unique\.by takes kind, .* and args\.FIELD, not 'args\.'"),
        ({"by": ()}, r"unique\.by must be a list such as .*, not \(\)"),
        ({"by": 5}, r"unique\.by must be a list of .*, not 5"),
        ({"key": 5}, r"unique\.key must be text, not 5"),
        ({"states": ("done",)}, r"unique\.states must be one of pending, .*, not 'done'"),
        ({"states": ("pending",)}, r"unique\.states must have .*; there is no scheduled"),
        ({"scope": "queue"}, r"unique\.scope must be one of job, chain, not 'queue'"),
        ({"exclude": ("x",)}, r"unique\.exclude must be an integer from 0 .*, not 'x'"),
        ({"on_conflict": "boom"}, r"unique\.on_conflict must be one of existing, reject, .*, not 'boom'"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_where_it_is_written(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        Unique(**wrong)


async def test_the_states_are_those_that_the_tables_know(database: Database) -> None:
    query = "select pg_get_constraintdef(oid) from pg_constraint where conname = $1 || '_state_is_known' and conislocal"
    [jobs] = await database.fetch(query, "jobs")
    [finished] = await database.fetch(query, "finished_jobs")
    found = [re.findall(r"'(\w+)'", each[0]) for each in (jobs, finished)]
    assert found == [list(UNFINISHED), [each for each in ANY_STATE if each not in UNFINISHED]]
    assert (*QUEUED, *HELD) == UNFINISHED


def test_a_kind_may_name_only_args_that_its_handler_takes() -> None:
    def crawl(shop: int) -> None:
        """Takes one."""

    with pytest.raises(BadInput, match=r"unique\.by names args\.shopp; crawl takes \(shop\)"):
        App().kind(unique=Unique(by=("args.shopp",)))(crawl)


def test_a_job_that_continues_a_chain_does_not_ask_for_what_its_kind_says() -> None:
    kind = shop().find("crawl")
    job = kind.new(shop=7)
    assert '"unique"' in encode_document([job])
    continuation = encode_continuation(ContinueWith(job), [job], lambda each: check_job(each, kind))
    assert continuation.count('"unique"') == 1
    assert '"next":{"kind":"crawl","args":{"shop":7}}' in continuation


async def test_a_kind_says_for_its_jobs_what_they_are_unique_by(database_url: str) -> None:
    async with open_client(database_url, app=shop()) as client:
        first = await client.enqueue("crawl", {"shop": 7})
        assert await client.enqueue("crawl", {"shop": 7, "page": 2}) == first
        assert await client.enqueue("crawl", {"shop": 8}) != first
        assert await client.enqueue("crawl", {"shop": 7, "page": 2}, unique=Unique(by=("args",))) != first


async def test_a_refused_job_names_the_one_that_is_there(database_url: str) -> None:
    async with open_client(database_url) as client:
        first = await client.enqueue("a", unique=Unique())
        with pytest.raises(UniqueConflict, match=f"^job {first} has this unique key") as refused:
            await client.enqueue("a", unique=Unique(on_conflict="reject"))
        assert refused.value.job_id == first
        assert isinstance(refused.value, Conflict)


async def test_a_debounced_job_moves_on_with_the_newest_args_until_it_has_started(database_url: str) -> None:
    unique = Unique.debounce(by=("kind", "args.document"))
    async with open_client(database_url) as client:
        first = await client.enqueue("index", {"document": 5, "words": 1}, delay=10, unique=unique)
        second = await client.enqueue("index", {"document": 5, "words": 2}, delay=600, unique=unique)
        other = await client.enqueue("index", {"document": 6}, delay=10, unique=unique)
        assert first == second != other
        record = await client.get(first)
        assert record.args == {"document": 5, "words": 2}
        assert record.run_at - record.created_at > timedelta(seconds=60)


async def test_a_throttled_job_is_made_once_in_its_window_however_it_ended(database_url: str) -> None:
    unique = Unique.throttle(timedelta(days=1), by=("kind", "args.user"))
    async with open_client(database_url) as client:
        first = await client.enqueue("remind", {"user": 7}, unique=unique)
        await client.cancel(first)
        assert await client.enqueue("remind", {"user": 7}, unique=unique) == first
        assert await client.enqueue("remind", {"user": 8}, unique=unique) != first
