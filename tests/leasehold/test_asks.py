"""`leasehold.enqueue_statement` over drivers."""

from __future__ import annotations

import json
from typing import Any, cast, get_args

import asyncpg
import psycopg
import pytest
import sqlalchemy

from leasehold import App, NewJob, enqueue_statement
from leasehold.drivers import Style
from leasehold.errors import BadInput, InvalidArgs, UnknownKind
from tests.support.flavours import under_asyncio

app = App()


@app.kind(queue="mail", priority=4)
async def send(text: str) -> None:
    pass


def test_the_statement_has_the_job_with_the_defaults_of_its_kind() -> None:
    text, values = enqueue_statement(send.new("100 % 'sure'"))
    assert text == "select * from leasehold.enqueue_jobs(cast(cast($1 as text) as jsonb), $2)"
    document, notify = cast("tuple[str, bool]", values)
    assert notify is True
    assert json.loads(document) == [{"kind": "send", "args": {"text": "100 % 'sure'"}, "queue": "mail", "priority": 4}]
    assert enqueue_statement(send.new("x"), notify=False).parameters[1] is False  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("style", get_args(Style))
def test_each_style_has_the_same_values(style: Style) -> None:
    made = enqueue_statement(send.new("x"), style=style).parameters
    values = list(made.values()) if isinstance(made, dict) else list(made)
    assert values == list(cast("Any", enqueue_statement(send.new("x")).parameters))


@under_asyncio
async def test_asyncpg_runs_it(database_url: str) -> None:
    connection: Any = await cast("Any", asyncpg).connect(database_url)
    text, values = enqueue_statement(send.new("100 %"))
    row = await connection.fetchrow(text, *values)
    assert dict(row) == {"job_id": 1, "is_new": True, "outcome": "created"}
    await connection.close()


def test_psycopg_and_sqlalchemy_run_it(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        styles: list[Style] = ["format", "pyformat"]
        for n, style in enumerate(styles, 1):
            text, values = enqueue_statement(send.new("100 %s"), style=style)
            assert connection.execute(cast("Any", text), values).fetchone() == (n, True, "created")
        text, values = enqueue_statement(send.new("100 %s"))
        assert psycopg.RawCursor(connection).execute(cast("Any", text), values).fetchone() == (3, True, "created")
        found = connection.execute("select distinct args, queue, priority from leasehold.jobs").fetchall()
    assert found == [({"text": "100 %s"}, "mail", 4)] or {each[0]["text"] for each in found} == {"100 %s"}
    engine = sqlalchemy.create_engine(sqlalchemy.make_url(database_url).set(drivername="postgresql+psycopg"))
    with engine.begin() as other:
        text, values = enqueue_statement(send.new(":p1"), style="named")
        assert other.execute(sqlalchemy.text(text), cast("Any", values)).scalar_one() == 4
    engine.dispose()


def test_several_jobs_and_their_blockers_come_in_one_statement(database_url: str) -> None:
    blocked: NewJob[None] = NewJob(kind="after", blockers=[NewJob(kind="before")])
    text, values = enqueue_statement([blocked, NewJob(kind="other")], style="format")
    with psycopg.connect(database_url) as connection:
        made = connection.execute(cast("Any", text), values).fetchall()
        kinds = connection.execute("select kind from leasehold.jobs order by id").fetchall()
    assert [row[0] for row in made] == [1, 2, 3]
    assert kinds == [("before",), ("after",), ("other",)]


def test_what_no_client_would_take_is_refused() -> None:
    with pytest.raises(BadInput, match="style must be one of numeric_dollar"):
        enqueue_statement(send.new("x"), style=cast("Any", "dollar"))
    with pytest.raises(BadInput, match=r"did you mean send\.new"):
        enqueue_statement([cast("Any", send)])
    with pytest.raises(BadInput):
        enqueue_statement(cast("Any", send))
    with pytest.raises(InvalidArgs, match="send"):
        enqueue_statement(NewJob(kind="send"), app=app)
    with pytest.raises(UnknownKind, match="sned"):
        enqueue_statement(NewJob(kind="sned"), app=app)
    made = enqueue_statement(NewJob(kind="send", args={"text": "x"}), app=app)
    assert json.loads(cast("Any", made.parameters)[0])[0]["queue"] == "mail"
