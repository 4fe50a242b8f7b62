"""Each SQL statement, request and JSON text that the documents print, word for word from `printed.toml`: it does what they say, or
it is refused for the reason that stands beside it. One that is refused no longer fails, too."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from leasehold.database import Database, Transaction
from leasehold.errors import LeaseholdError, QueryRefused
from leasehold.moving.compat import compat_script
from tests.conftest import Psql
from tests.gateway.fakes.kubernetes import NAME, running_kubernetes
from tests.gateway.fakes.running import Answer, RunningGateway, running_service
from tests.gateway.nouns.test_sources import define
from tests.support.saved import AFTER, BEFORE, save

Example = dict[str, Any]
EXAMPLES: list[Example] = tomllib.loads(Path(__file__).with_name("printed.toml").read_text("utf-8"))["example"]
DOCUMENTS = {
    "S1": "Worker Task Architecture",
    "S2": "CannaiQ Worker System",
    "S3": "Task Workflow Documentation",
    "S4": "Task consumer for TaskFlow",
}
FORMS = ("sql", "http", "json")
PAGE = Path(__file__).parents[3] / "docs" / "moving-in.md"

SCENE = """
create table dispensaries (id serial primary key, state text);
insert into dispensaries (state) values ('AZ'), ('AZ'), ('CO');
insert into task_schedules (name, role, interval_hours) values ('payload_fetch_all', 'payload_fetch', 4);
update leasehold.schedules set next_run_at = now() - interval '1 minute';
insert into worker_tasks (role, dispensary_id) select 'product_resync', n from generate_series(1, 5) n;
update leasehold.jobs set created_at = now(), run_at = now();
select claim_task('product_resync', 'gone'), claim_task('product_resync', 'resync-1'), claim_task('product_resync', 'resync-1');
update worker_tasks set status = 'running' where id in (1, 2, 3);
update worker_tasks set status = 'completed' where id = 3;
update worker_tasks set status = 'failed', error_message = 'HTTP 500' where id = 4;
update leasehold.jobs set heartbeat_at = now() - interval '1 minute' where id = 2;
update leasehold.jobs set heartbeat_at = now() - interval '11 minutes', claimed_at = now() - interval '12 minutes' where id = 1;
"""
"""Task 1 has lost its worker, 2 runs, 3 is completed, 4 failed, 5 waits; product_resync, and each of its own shop."""


def test_it_is_known_of_every_example_whether_it_runs_as_printed() -> None:
    for example in EXAMPLES:
        assert sum(form in example for form in FORMS) == 1, example
        is_refused = "error" in example or example.get("status", 200) >= 400
        assert is_refused == ("why" in example), example
    assert {example["place"].split(",")[0] for example in EXAMPLES} == set(DOCUMENTS)


def test_the_page_has_the_result() -> None:
    page = PAGE.read_text("utf-8").splitlines()
    rows: list[str] = []
    for document, title in DOCUMENTS.items():
        of = [each for each in EXAMPLES if each["place"].startswith(document)]
        counts = [[each for each in of if form in each] for form in FORMS]
        cells = [f"{sum('why' not in each for each in some)} of {len(some)}" if some else "" for some in counts]
        rows.append(f"| {document} {title} | {' | '.join(cells)} |")
    for example in EXAMPLES:
        if "why" in example:
            [form] = [form for form in FORMS if form in example]
            first = example[form].splitlines()[0].rstrip(" (")
            rows.append(f"| {example['place']} | `{first}` | {example['why']} |")
    assert [row for row in rows if row not in page] == []


async def test_their_sql(fresh_database: Database) -> None:
    await fresh_database.execute(compat_script())
    async with fresh_database.transaction() as session:
        await session.execute(SCENE)
        for example in EXAMPLES:
            if "sql" in example:
                await session.execute("savepoint example")
                assert await came_of(session, example) == example.get("error"), example
                await session.execute("rollback to savepoint example")


async def came_of(session: Transaction, example: Example) -> str | None:
    """The SQLSTATE that refused a statement; None where it did what is expected."""
    # Boxes and what stands beside them are the drawing, not the statement.
    statement = re.sub(r"[│;]|◄.*", "", example.get("before", "") + " " + example["sql"])
    try:
        rows = await session.fetch(statement, *example.get("with", ()))
    except QueryRefused as error:
        return error.sqlstate
    except LeaseholdError as error:
        return str(error)
    assert set(example.get("columns", ())) <= {name for row in rows for name in row.keys()}, example  # noqa: SIM118
    if "answer" in example:
        asked = await session.fetch(example["then"]) if "then" in example else rows
        assert fits(sorted((list(row) for row in asked), key=str), example["answer"]), (example, asked)
    return None


@pytest.fixture
def gateway(database_url: str, tmp_path: Path, psql: Psql) -> Generator[RunningGateway]:
    """A gateway beside a crawl queue, in a cluster, with two payloads of store 456 and a task for it."""
    define(psql, database_url)
    payloads = tmp_path / "payloads"
    save(database_url, payloads, BEFORE, AFTER, key="456", metadata={"products": 3})
    settings: dict[str, Any] = {"k8s_worker_statefulset": NAME, "k8s_min_replicas": 1, "k8s_max_replicas": 15}
    with (
        running_kubernetes(tmp_path) as (_, pod),
        running_service(
            database_url, pod=pod, payloads_store=str(payloads), gateway_token=TOKEN, **settings
        ) as gateway,
    ):
        yield gateway


TOKEN = "token-of-the-settings-32-characters"
SHOPS = "select id::text as key, jsonb_build_object('state_code', state) as metadata from dispensaries"
SCHEDULES: list[Example] = [
    {"name": "payload_fetch_all", "kind": "payload_fetch", "query": SHOPS},
    {"name": "store_discovery_dutchie", "kind": "store_discovery", "priority": 5},
]


def ask(gateway: RunningGateway, method: str, path: str, body: object = None) -> Answer:
    return gateway.call(method, path, body, {"Authorization": f"Bearer {TOKEN}"})


def test_their_requests_and_json(gateway: RunningGateway) -> None:
    for schedule in SCHEDULES:
        assert (
            ask(gateway, "POST", "/api/schedules", {"every": 14_400, "queue": schedule["kind"], **schedule}).status
            == 201
        )
    first = ask(gateway, "POST", "/api/tasks", {"role": "product_resync", "dispensary_id": 456, "platform": "dutchie"})
    assert first.body["id"] == 1
    for example in EXAMPLES:
        if "sql" in example:
            continue
        answer = ask(gateway, *request_of(example))
        assert answer.status == example.get("status", 200), (example, answer.body)
        assert fits(answer.body, example.get("answer", {})), (example, answer.body)
        if "of" in example:
            assert is_like(answer.body, json_of(example)), (example, answer.body)


def request_of(example: Example) -> tuple[str, str, object]:
    """Method, path and body of a request that is printed as curl, as a row of a table, or as its body alone."""
    text = example.get("http") or example.get("sent") or example["of"]
    if text.startswith("curl"):
        words = shlex.split(text)
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        body = words[words.index("-d") + 1].encode() if "-d" in words else None
        return method, next(word for word in words if word.startswith("/")), body
    [method] = re.findall(r"\b(GET|POST|PUT)\b", text)
    [path] = re.findall(r"/api/[^\s|]+", text)
    for name, value in example.get("fill", {}).items():
        path = path.replace(name, value)
    return method, path, json_of(example) if "sent" in example else example.get("body")


def json_of(example: Example) -> Any:
    """What is printed as JSON, or as a literal of TypeScript, with names for values filled in."""
    text = example["json"]
    for name, value in example.get("fill", {}).items():
        text = text.replace(name, value)
    text = re.sub(r"^await \w+\.\w+\(|\);$|^//.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"new Date\('([^']+)'\)", r'"\1"', text.replace("[...]", "[]"))
    text = re.sub(r"^(\s*|\{ )(\w+): ", r'\1"\2": ', text, flags=re.MULTILINE)
    return msgspec.json.decode(re.sub(r",(\s*\})", r"\1", text.replace("'", '"')))


def fits(answer: Any, expected: Any) -> bool:
    """Whether an answer is as expected: objects may have more fields, and "*" stands for any value."""
    if isinstance(expected, dict):
        return all(name in answer and fits(answer[name], each) for name, each in items_of(expected))
    if isinstance(expected, list):
        rows = cast("list[Any]", expected)
        return len(answer) == len(rows) and all(map(fits, answer, rows))
    return answer == expected or (expected == "*" and answer is not None)


def is_like(answer: Any, printed: Any) -> bool:
    """Whether an answer has all fields of a printed one, and values of the same type. A number may be unknown."""
    if isinstance(printed, dict):
        return all(name in answer and is_like(answer[name], each) for name, each in items_of(printed))
    return (answer is None and isinstance(printed, int)) or type(answer) is type(printed)


def items_of(fields: Any) -> list[tuple[str, Any]]:
    return list(fields.items())
