from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from leasehold.app import App
from leasehold.cli.runtime.loading import load_app
from leasehold.errors import SettingsError


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A folder to be in, with modules of which nothing remains afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    (tmp_path / "shop_jobs.py").write_text(
        "from leasehold import App\napp = App()\nclass inner:\n    app = App()\nother = 7\n"
    )
    (tmp_path / "shop_needy.py").write_text("import shop_nowhere\n")
    (tmp_path / "shop_broken.py").write_text("1 / 0\n")
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_an_app_is_found_in_the_current_folder_and_below_attributes() -> None:
    assert isinstance(load_app("shop_jobs:app"), App)
    assert load_app("shop_jobs:inner.app") is not load_app("shop_jobs:app")


@pytest.mark.parametrize(
    ("place", "complaint"),
    [
        ("shop_job:app", "app shop_job:app: there is no module shop_job in "),
        ("shop_needy:app", "app shop_needy:app: there is no module shop_nowhere, which shop_needy needs"),
        ("shop_broken:app", "app shop_broken:app cannot be imported: ZeroDivisionError: division by zero"),
        ("shop_jobs:apps", "app shop_jobs:apps: module shop_jobs has no apps; it has shop_jobs:app"),
        ("shop_jobs:other", "app shop_jobs:other is of type int, not leasehold.App"),
    ],
)
def test_what_cannot_be_loaded_is_told_with_the_place(place: str, complaint: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_app(place)
    assert str(caught.value).startswith(complaint)
