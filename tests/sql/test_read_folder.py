from __future__ import annotations

from pathlib import Path

import pytest

from leasehold import sql


@pytest.fixture
def functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder `functions`, with files in two folders of it."""

    def here() -> Path:
        return tmp_path

    monkeypatch.setattr(sql, "_here", here)
    folder = tmp_path / "functions"
    for name in ("jobs/keys/lock.sql", "claim/take.sql", "README.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def test_files_of_all_folders_are_read_by_stem_in_order(functions: Path) -> None:
    assert list(sql.read_folder("functions").items()) == [("lock", "jobs/keys/lock.sql"), ("take", "claim/take.sql")]


def test_two_files_of_one_name_are_refused(functions: Path) -> None:
    (functions / "jobs" / "take.sql").write_text("")
    with pytest.raises(ValueError, match=r"two files of sql/functions have the same name: \['take\.sql'\]"):
        sql.read_folder("functions")
