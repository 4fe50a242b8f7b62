from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from leasehold.moving.sources import READY, load_mapping, with_names
from tests.support.sources.making import define
from tests.support.sources.seeds import WORKER_TASKS


def test_every_ready_mapping_is_there_and_no_other() -> None:
    folder = Path(__file__).parents[3] / "src" / "leasehold" / "moving" / "mappings"
    assert sorted(READY) == sorted(path.stem for path in folder.glob("*.toml"))


def test_the_schema_stands_in_every_table_and_is_no_sql() -> None:
    assert load_mapping("pgqueuer", "old")["jobs"][0]["table"] == "old.pgqueuer"
    with pytest.raises(BadInput, match="schema must be lower case letters"):
        load_mapping("pgqueuer", "old; drop")


def test_a_mapping_of_one_s_own_is_toml_or_json(tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    own.write_text('{"jobs": [], "search_path": "app"}')
    assert load_mapping(str(own)) == {"jobs": [], "search_path": "app"}
    own.write_text("{")
    with pytest.raises(BadInput, match=r"own\.json cannot be read"):
        load_mapping(str(own))
    with pytest.raises(BadInput, match="cannot be read"):
        load_mapping(str(tmp_path / "none.toml"))
    with pytest.raises(BadInput, match="there is no mapping 'celery'; ready are celery_beat"):
        load_mapping("celery")


def test_names_are_added_and_win() -> None:
    mapping: dict[str, Any] = {"kinds": {"a": "b", "c": "d"}, "jobs": []}
    assert with_names(mapping, {"kinds": {"a": "x"}, "positional": {"x": ["y"]}}) == {
        "kinds": {"a": "x", "c": "d"},
        "positional": {"x": ["y"]},
        "jobs": [],
    }
    with pytest.raises(BadInput, match="names have kinds, queues, positional, not jobs"):
        with_names(mapping, {"jobs": []})


ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "moving-in.md").read_text("utf-8")
ROW = re.compile(r"^\| [^|]+ \| `(SELECT|UPDATE)([^`]+)` \| `(select [^`]+)` \|$", re.MULTILINE)
THEIRS_ALONE = ("recover_stale_tasks", "generate_resync_tasks", "v_worker_capacity")
"""What their own migrations make; their documents do not show it."""


async def test_every_statement_of_the_task_workers_has_one_here_that_runs(database: Database) -> None:
    await database.execute(WORKER_TASKS)
    await define(database, "worker_tasks")
    await database.execute(
        "insert into task_schedules (name, role, interval_hours) values ('payload_fetch_all', 'payload_fetch', 4)"
    )
    await database.call("move_schedules")
    rows = ROW.findall(PAGE)
    assert len(rows) == 9
    for verb, theirs, ours in rows:
        if not any(name in theirs for name in THEIRS_ALONE):
            await database.execute(verb + theirs)
        await database.execute(ours)
    [made] = await database.fetch("select count(*) as jobs, count(distinct key) as keys from leasehold.jobs")
    assert (made["jobs"], made["keys"]) == (10, 10)


def test_the_page_has_a_row_for_every_ready_mapping() -> None:
    assert sorted(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == sorted(READY)
