from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from leasehold.settings.settings import FORCE_SECONDS
from tests.deploy.files import COMPOSE, DEPLOY, ROOT, documents
from tests.support.waiting import PATIENCE

DOCKERFILES = sorted(DEPLOY.rglob("Dockerfile"))


def run(*command: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.parent.name)
def test_hadolint_has_nothing_to_say(path: Path) -> None:
    assert run(program("hadolint"), "--failure-threshold", "info", str(path)) == ""


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.name)
def test_compose_files_fit_the_specification(path: Path) -> None:
    run(program("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", str(path))


def test_all_yaml_is_in_one_style() -> None:
    run(program("yamllint"), "--strict", "-c", str(DEPLOY / ".yamllint.yaml"), str(DEPLOY))


def test_the_image_gets_every_folder_that_the_package_is_made_of() -> None:
    text = (DEPLOY / "docker/Dockerfile").read_text()
    copied = {word for line in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE) for word in line.split()}
    rooms = {path.readlink().parts[-1] for path in (ROOT / "src/leasehold").iterdir() if path.is_symlink()}
    rooms |= {"examples"}  # the demonstration runs one of them
    assert rooms | {"src", "pyproject.toml", "README.md", "LICENSE"} == copied
    let_through = (DEPLOY / "docker/Dockerfile.dockerignore").read_text().splitlines()
    assert {line[1:] for line in let_through if line.startswith("!")} == copied


def test_the_image_asks_for_extras_that_there_are() -> None:
    [extras] = re.findall(r"'\.\[(.*)\]'", (DEPLOY / "docker/Dockerfile").read_text())
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(extras.split(",")) <= set(known)


def test_no_container_is_root() -> None:
    for path in DOCKERFILES:
        [user] = re.findall(r"^USER (\S+)$", path.read_text(), re.MULTILINE)
        assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user), path


def test_there_is_time_to_drain() -> None:
    [compose] = documents(COMPOSE[0])
    for name in ("gateway", "scheduler", "worker"):
        service = compose["services"][name]
        drain = float(service["environment"]["LEASEHOLD_DRAIN_SECONDS"])
        assert float(service["stop_grace_period"].removesuffix("s")) > drain + FORCE_SECONDS + 5
