from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from leasehold.app import App
from leasehold.cli.runtime.loading import load_app
from leasehold.errors import SettingsError

TWICE = """from leasehold import App
app = App()
@app.kind()
def pay(): ...
@app.kind()
def pay(): ...
"""


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
    (tmp_path / "shop_broken.py").write_text("\n1 / 0\n")
    (tmp_path / "shop_deep.py").write_text("import shop_broken\n")
    (tmp_path / "shop_typo.py").write_text("\nprint(\n")
    (tmp_path / "shop_twice.py").write_text(TWICE)
    (tmp_path / "shop_script.py").write_text("import sys\ndef main(): sys.exit(0)\nmain()\n")
    (tmp_path / "shop_above.py").write_text("import shop_script\n")
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
        (
            "shop_needy:app",
            "app shop_needy:app: there is no module shop_nowhere, which {folder}/shop_needy.py, line 1 imports",
        ),
        (
            "shop_broken:app",
            "app shop_broken:app cannot be imported: ZeroDivisionError: division by zero ({folder}/shop_broken.py, line 2)",
        ),
        (
            "shop_deep:app",
            "app shop_deep:app cannot be imported: ZeroDivisionError: division by zero ({folder}/shop_broken.py, line 2)",
        ),
        (
            "shop_typo:app",
            "app shop_typo:app cannot be imported: SyntaxError: '(' was never closed (shop_typo.py, line 2)",
        ),
        (
            "shop_script:app",
            "app shop_script:app cannot be imported: module shop_script ({folder}/shop_script.py, line 3) ends the program by "
            'SystemExit(0) while it is imported; put what belongs to a script alone below `if __name__ == "__main__":`',
        ),
        (
            "shop_above:app",
            "app shop_above:app cannot be imported: module shop_script ({folder}/shop_script.py, line 3) ",
        ),
        ("shop_jobs:apps", "app shop_jobs:apps: module shop_jobs has no apps; it has shop_jobs:app"),
        ("shop_jobs:other", "app shop_jobs:other is of type int, not leasehold.App"),
    ],
)
def test_what_cannot_be_loaded_is_told_with_the_place(shop: Path, place: str, complaint: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_app(place)
    assert str(caught.value).startswith(complaint.format(folder=shop))


def test_a_kind_that_is_registered_twice_is_told_with_the_line_that_did_it(shop: Path) -> None:
    with pytest.raises(SettingsError, match=rf"{shop}/shop_twice.py, line 5\)$"):
        load_app("shop_twice:app")
