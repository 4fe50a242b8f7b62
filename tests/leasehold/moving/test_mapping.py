from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leasehold.errors import BadInput
from leasehold.moving.mapping import READY, load_mapping, with_names


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
