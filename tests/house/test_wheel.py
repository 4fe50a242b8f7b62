"""What users install: built from a copy of the checkout, installed into an empty environment, outside of both."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


LEFT_BEHIND = shutil.ignore_patterns(
    ".git", ".venv*", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".leasehold", "node_modules"
)
IMPORT_ALL = """
import importlib, pkgutil, leasehold
import django
from django.conf import settings
names = ["auth", "contenttypes", "admin"]
settings.configure(INSTALLED_APPS=[*(f"django.contrib.{name}" for name in names), "leasehold.django"])
django.setup()  # what is for Django is imported by Django
for module in pkgutil.walk_packages(leasehold.__path__, "leasehold."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints on standard output; fails with everything it said."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["PIP_NO_COMPILE"] = "1"  # most of what is installed is never imported
    done = subprocess.run(
        command, check=False, cwd=cwd, env=environment, capture_output=True, text=True, timeout=PATIENCE * 5
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive, and with the wheel that was made from that archive."""
    checkout = tmp_path_factory.mktemp("checkout") / "leasehold"
    shutil.copytree(ROOT, checkout, symlinks=True, ignore=LEFT_BEHIND)
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", out, checkout, cwd=out)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", out / "direct", checkout, cwd=out)
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment that holds the wheel, the extras that its modules import, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder)
    run(
        *(sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install"),
        "--quiet",
        "--disable-pip-version-check",
        f"{wheel}[blobs,cli,django,egress,mcp,otel,process,testing]",
        cwd=folder,
    )
    return folder / "bin"


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}


def test_the_wheel_holds_one_package_and_everything_in_it(wheel: Path) -> None:
    names = set(contents(wheel))
    assert {name.split("/")[0] for name in names} == {"leasehold"}
    assert "leasehold/py.typed" in names
    rooms = ["actors", "gateway", "notify", "sql"]
    files = [path for room in rooms for path in (ROOT / room).rglob("*") if path.suffix in {".py", ".sql"}]
    files += list((ROOT / "src" / "leasehold").rglob("*.py"))
    expected = {str(path.relative_to(ROOT)).removeprefix("src/leasehold/") for path in files}
    assert {f"leasehold/{name}" for name in expected} <= names
    assert sum(name.endswith(".sql") for name in names) == sum(path.suffix == ".sql" for path in files) > 0


def test_the_wheel_holds_the_dashboard(wheel: Path) -> None:
    folder = ROOT / "gateway" / "dashboard"
    files = {f"leasehold/gateway/dashboard/{file.relative_to(folder)}" for file in folder.rglob("*") if file.is_file()}
    assert {name for name in files if not name.endswith(".d.ts")} <= set(contents(wheel))


def test_the_source_archive_holds_the_sql_and_makes_the_same_wheel(built: Path, wheel: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        files = [member.name.split("/", 1)[1] for member in source.getmembers() if member.isfile()]
    sql = {f"src/leasehold/{path.relative_to(ROOT)}" for path in (ROOT / "sql").rglob("*.sql")}
    assert sql <= {*files}
    (direct,) = (built / "direct").glob("*.whl")
    assert contents(direct) == contents(wheel)


def test_an_installed_leasehold_says_how_to_use_it(installed: Path, tmp_path: Path) -> None:
    assert "Usage: leasehold COMMAND" in run(installed / "leasehold", "--help", cwd=tmp_path)
    assert "Usage: leasehold COMMAND" in run(installed / "python", "-m", "leasehold", "--help", cwd=tmp_path)


def test_every_module_of_an_installed_leasehold_can_be_imported(installed: Path, tmp_path: Path) -> None:
    imported = run(installed / "python", "-c", IMPORT_ALL, cwd=tmp_path).split()
    assert {"leasehold.client", "leasehold.actors", "leasehold.gateway", "leasehold.notify", "leasehold.sql"} <= {
        *imported
    }


def test_an_installed_leasehold_brings_its_schema(installed: Path, tmp_path: Path) -> None:
    emitted = run(installed / "leasehold", "migrate", "--emit", cwd=tmp_path)
    assert "create or replace function leasehold.enqueue_job" in emitted


def test_without_the_embedded_extra_the_error_says_how_to_get_it(installed: Path, tmp_path: Path) -> None:
    command = [installed / "leasehold", "migrate", "--data-folder", tmp_path / "data"]
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(
        command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert "pip install 'leasehold[embedded]'" in done.stderr
