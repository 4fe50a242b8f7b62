"""The snippets of docs/recipes/README.md, put together into one module and run."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest

from leasehold.jobs.new_job import NewJob
from tests.support.waiting import PATIENCE, eventually
from tests.support.working import Working, a_scheduler, working

RECIPES = Path(__file__).parents[2] / "docs" / "recipes" / "README.md"
SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SERVED = ("default", "github", "mail")


@pytest.fixture
def recipes(tmp_path: Path) -> ModuleType:
    """All snippets as a module, with what they take from elsewhere."""
    path = tmp_path / "recipes.py"
    path.write_text("\n\n".join(SNIPPET.findall(RECIPES.read_text())))
    spec = importlib.util.spec_from_file_location("recipes", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(PAGES=[["a", "b"], ["c"]], ask_github=_answers())
    spec.loader.exec_module(module)
    return module


def _answers() -> Callable[[str], tuple[int, float]]:
    answers = iter([(429, 0.05), (200, 0.0)])

    def ask_github(name: str) -> tuple[int, float]:
        return next(answers)

    return ask_github


@pytest.fixture
async def kitchen(database_url: str, recipes: ModuleType) -> AsyncGenerator[Working]:
    async with working(database_url, recipes.app, beside=[a_scheduler], queues=SERVED) as running:
        yield running


async def ends_with(kitchen: Working, job: NewJob[Any]) -> Any:
    """What the chain of this job ends with."""
    return await kitchen.client.wait(await kitchen.client.enqueue(job), timeout=PATIENCE)


@pytest.mark.timeout(PATIENCE * 5)  # a program that takes seconds of its own
def test_the_type_checker_accepts_the_snippets(tmp_path: Path) -> None:
    given = "PAGES: list[list[str]] = []\n\n\ndef ask_github(name: str) -> tuple[int, float]: ...\n"
    path = tmp_path / "recipes.py"
    path.write_text("\n\n".join(["# pyright: strict", *SNIPPET.findall(RECIPES.read_text()), given]))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE * 4, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


async def test_loop(kitchen: Working, recipes: ModuleType) -> None:
    assert await ends_with(kitchen, recipes.import_pages.new()) == 3


@pytest.mark.parametrize(("cents", "end"), [(0, "nothing to pay"), (5, "5 in cash"), (5000, "bill over 5000")])
async def test_branch(kitchen: Working, recipes: ModuleType, cents: int, end: str) -> None:
    assert await ends_with(kitchen, recipes.check_order.new(cents)) == end


async def test_fan_out_and_in_answers_a_request(kitchen: Working, recipes: ModuleType) -> None:
    assert await recipes.handle_request(kitchen.client, "one two three") == 11


async def test_debounce(kitchen: Working, recipes: ModuleType) -> None:
    first = await recipes.on_change(kitchen.client, 7)
    was = (await kitchen.client.get(first)).run_at
    assert await recipes.on_change(kitchen.client, 7) == first
    assert await recipes.on_change(kitchen.client, 8) != first
    assert (await kitchen.client.get(first)).run_at > was


async def test_one_at_a_time(kitchen: Working, recipes: ModuleType) -> None:
    made = await recipes.on_message(kitchen.client, 7, "hello")
    assert (await kitchen.client.get(made)).key == "account-7"
    assert (await kitchen.finished(made)).output == "hello"


async def test_rate_limit(kitchen: Working, recipes: ModuleType) -> None:
    await recipes.set_limits(kitchen.client)
    made = await kitchen.client.enqueue(recipes.fetch_repository.new("leasehold"))
    job = await kitchen.finished(made)
    assert (job.output, job.attempt) == (200, 2)
    [limit] = await kitchen.client.queues.limits("github")
    assert (limit.rate, limit.burst, limit.max_running) == (10, 20, 4)


async def test_tenants(kitchen: Working, recipes: ModuleType) -> None:
    await recipes.set_tenant_limits(kitchen.client)
    made = [await recipes.send(kitchen.client, tenant, "hello") for tenant in (7, 7, 8)]
    assert [(await kitchen.finished(job)).output for job in made] == ["hello"] * 3
    assert {limit.key_group: limit.max_running for limit in await kitchen.client.queues.limits("mail")} == {
        "*": 2,
        "tenant-7": 10,
    }


async def test_ask_a_person(kitchen: Working, recipes: ModuleType) -> None:
    chain = await kitchen.client.enqueue(recipes.publish.new(1))

    async def asked() -> int | None:
        return next((job.id for job in await kitchen.client.jobs.list(queue="people")), None)

    await recipes.approve(kitchen.client, await eventually(asked))
    assert await kitchen.client.wait(chain, timeout=PATIENCE) == "printed"


async def test_effects_that_follow(kitchen: Working, recipes: ModuleType) -> None:
    assert await ends_with(kitchen, recipes.register.new("Ada")) == "Ada"
    assert sorted(job.args["text"] for job in await kitchen.client.jobs.list(kind="deliver")) == [
        "Ada is here",
        "welcome, Ada",
    ]


async def test_the_client_in_a_handler(kitchen: Working, recipes: ModuleType) -> None:
    old = await kitchen.client.enqueue(recipes.deliver.new("old"))
    await kitchen.finished(old)
    assert await ends_with(kitchen, recipes.clean_up.new([old])) == 1
    assert not await kitchen.client.jobs.list(kind="deliver")


async def test_enqueue_over_another_driver(kitchen: Working, recipes: ModuleType, database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        recipes.sign_up(connection, "Ann")
        assert await kitchen.client.jobs.list(kind="deliver") == []
    [job] = await kitchen.client.jobs.list(kind="deliver")
    assert (job.queue, job.args) == ("mail", {"text": "welcome, Ann"})
