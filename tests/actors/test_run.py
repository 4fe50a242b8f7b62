from __future__ import annotations

import pytest
import trio

from leasehold.actors.identity import made_up_id
from leasehold.actors.process import open_process
from leasehold.actors.run import run_actors
from leasehold.app import App
from leasehold.database.border import open_further
from leasehold.errors import ActorFailed, BadInput, SchemaMismatch
from leasehold.settings import Settings
from tests.support.waiting import PATIENCE


@pytest.mark.parametrize(("names", "complaint"), [(["worker", "king"], "unknown actor king"), ([], "none named")])
async def test_an_actor_that_does_not_exist_is_refused_with_those_that_do(names: list[str], complaint: str) -> None:
    with pytest.raises(BadInput, match=f"{complaint}.*worker, scheduler, reaper"):
        await run_actors(names, Settings())


async def test_a_worker_without_any_handler_is_refused() -> None:
    with pytest.raises(BadInput, match="no handler"):
        await run_actors(["worker"], Settings(), app=App())


@pytest.mark.parametrize("actor", ["worker", "scheduler", "reaper"])
async def test_actors_whose_schema_was_taken_away_end_with_a_clear_error(empty_database_url: str, actor: str) -> None:
    settings = Settings(database_url=empty_database_url, notify=False)
    with trio.fail_after(PATIENCE), pytest.raises(ActorFailed, match="leasehold migrate") as caught:
        await run_actors([actor], settings)
    assert isinstance(caught.value.__cause__, SchemaMismatch)


@pytest.mark.parametrize(("seconds", "ours", "theirs"), [(None, 30.0, 30.0), (7.5, 7.5, 7.5), (3_600.0, 30.0, 3_600.0)])
async def test_statements_of_handlers_have_the_seconds_that_the_settings_give_and_ours_no_more_than_thirty(
    database_url: str, seconds: float | None, ours: float, theirs: float
) -> None:
    """A claim whose connection is lost in silence is waited for so long."""
    settings = Settings(database_url=database_url, statement_seconds=seconds)
    async with open_process(settings, App(), "test") as process, open_further(process.database, 1, seconds) as further:
        assert (process.database.timeout, further.timeout) == (ours, theirs)


def test_made_up_ids_differ() -> None:
    assert made_up_id() != made_up_id()
