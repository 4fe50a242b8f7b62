"""What users install: built from a copy of the checkout, installed into an empty environment, outside of both."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


LEFT_BEHIND = shutil.ignore_patterns(
    ".git", ".venv*", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".leasehold", "node_modules"
)
EXTRAS = {"blobs", "cli", "django", "egress", "mcp", "otel", "process", "testing"}
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


def contents(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if ".dist-info/" not in name]


def build(tmp_path: Path) -> tuple[Path, Path]:
    """The source archive, and the wheel that was made from that archive."""
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT, checkout, symlinks=True, ignore=LEFT_BEHIND)
    out = tmp_path / "dist"
    run(sys.executable, "-m", "build", "--outdir", out, checkout, cwd=tmp_path)
    (archive,) = out.glob("*.tar.gz")
    (wheel,) = out.glob("*.whl")
    return archive, wheel


def install(wheel: Path, folder: Path) -> Path:
    """The `bin` folder of an environment that holds the wheel, what it and the extras that its modules import ask for, and
    nothing else. The other packages are those of this environment: to install each anew takes longer than all the rest."""
    venv.create(folder)
    run(
        *(sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install"),
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        wheel,
        cwd=folder,
    )
    [installed] = folder.glob("lib/python*/site-packages")
    [own] = metadata.distributions(name="leasehold", path=[str(installed)])
    for package in needed(own, EXTRAS):
        link(package, installed)
    return folder / "bin"


def needed(own: metadata.Distribution, extras: set[str]) -> list[metadata.Distribution]:
    """What it asks for with these extras, and what that asks for."""
    seen: set[tuple[str, str]] = set()
    found: dict[str, metadata.Distribution] = {}
    open_ends = [(own, extra) for extra in ("", *extras)]
    while open_ends:
        package, extra = open_ends.pop()
        if (package.name, extra) in seen:
            continue
        seen.add((package.name, extra))
        for text in package.requires or ():
            asked = Requirement(text)
            if asked.marker is None or asked.marker.evaluate({"extra": extra}):
                there = own if asked.name == own.name else metadata.distribution(asked.name)
                found[there.name] = there
                open_ends += [(there, each) for each in ("", *asked.extras)]
    return [package for package in found.values() if package is not own]


def link(package: metadata.Distribution, folder: Path) -> None:
    """Links to its files: a folder of modules may be shared with packages that nobody asks for."""
    there = package.locate_file("")
    files = [str(file) for file in package.files or () if file.suffix != ".pyc" and file.parts[0] != ".."]
    for parent in {os.path.dirname(file) for file in files}:
        os.makedirs(folder / parent, exist_ok=True)
    for file in files:
        os.symlink(f"{there}/{file}", f"{folder}/{file}")


def test_what_users_install_is_whole_and_works(tmp_path: Path, subtests: pytest.Subtests) -> None:
    archive, wheel = build(tmp_path)
    with subtests.test("the source archive holds the SQL"):
        sql = {f"src/leasehold/{path.relative_to(ROOT)}" for path in (ROOT / "sql").rglob("*.sql")}
        assert sql <= names_in(archive)
    names = {*contents(wheel)}
    with subtests.test("the wheel holds one package and everything in it"):
        assert_all_is_there(names)
    with subtests.test("the wheel holds the dashboard"):
        folder = ROOT / "gateway" / "dashboard"
        files = {
            f"leasehold/gateway/dashboard/{file.relative_to(folder)}" for file in folder.rglob("*") if file.is_file()
        }
        assert {name for name in files if not name.endswith(".d.ts")} <= names
    programs = install(wheel, tmp_path / "installed")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with subtests.test("it says how to use it"):
        assert "Usage: leasehold COMMAND" in run(programs / "leasehold", "--help", cwd=elsewhere)
        assert "Usage: leasehold COMMAND" in run(programs / "python", "-m", "leasehold", "--help", cwd=elsewhere)
    with subtests.test("every module can be imported"):
        imported = {*run(programs / "python", "-c", IMPORT_ALL, cwd=elsewhere).split()}
        assert {
            "leasehold.client",
            "leasehold.actors",
            "leasehold.gateway",
            "leasehold.notify",
            "leasehold.sql",
        } <= imported
    with subtests.test("it brings its schema"):
        emitted = run(programs / "leasehold", "migrate", "--emit", cwd=elsewhere)
        assert "create or replace function leasehold.enqueue_job" in emitted
    with subtests.test("without the embedded extra the error says how to get it"):
        assert_embedded_is_asked_for(programs, elsewhere)


def names_in(archive: Path) -> set[str]:
    with tarfile.open(archive) as source:
        return {member.name.split("/", 1)[1] for member in source.getmembers() if member.isfile()}


def assert_all_is_there(names: set[str]) -> None:
    assert {name.split("/")[0] for name in names} == {"leasehold"}
    assert "leasehold/py.typed" in names
    rooms = ["actors", "gateway", "notify", "sql"]
    files = [path for room in rooms for path in (ROOT / room).rglob("*") if path.suffix in {".py", ".sql"}]
    files += list((ROOT / "src" / "leasehold").rglob("*.py"))
    expected = {str(path.relative_to(ROOT)).removeprefix("src/leasehold/") for path in files}
    assert {f"leasehold/{name}" for name in expected} <= names
    assert sum(name.endswith(".sql") for name in names) == sum(path.suffix == ".sql" for path in files) > 0


def assert_embedded_is_asked_for(programs: Path, folder: Path) -> None:
    command = [programs / "leasehold", "migrate", "--data-folder", folder / "data"]
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(
        command, check=False, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert "pip install 'leasehold[embedded]'" in done.stderr
