from __future__ import annotations

import configparser
import subprocess
import sys
from pathlib import Path

import pytest

from leasehold.cli.runtime.exit_codes import ExitCode
from leasehold.settings import Settings
from leasehold.settings.settings import FORCE_SECONDS
from tests.deploy.files import DEPLOY, UNITS
from tests.support.programs import needed
from tests.support.waiting import PATIENCE

TARGET = DEPLOY / "systemd/leasehold.target"
# 0 is best; systemd calls 2.0 and less "ok" to "safe".
MOST_EXPOSURE = 20


def analyze(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [needed("systemd-analyze", "systemd"), *words], check=False, capture_output=True, text=True, timeout=PATIENCE
    )


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The units with a program that there is, and the template with an instance."""
    folder = tmp_path_factory.mktemp("units")
    for path in [*UNITS, TARGET]:
        text = path.read_text().replace(
            "/opt/leasehold/bin/leasehold", str(Path(sys.executable).with_name("leasehold"))
        )
        (folder / path.name.replace("@.", "@1.")).write_text(text)
    return sorted(folder.iterdir())


def test_systemd_understands_every_line(units: list[Path]) -> None:
    done = analyze("verify", "--recursive-errors=no", *map(str, units))
    ours = [line for line in done.stderr.splitlines() if "leasehold" in line]
    assert (done.returncode, ours) == (0, [])


def test_what_runs_for_long_is_shut_in(units: list[Path]) -> None:
    services = [str(path) for path in units if path.suffix == ".service"]
    done = analyze("security", "--offline=true", "--no-pager", f"--threshold={MOST_EXPOSURE}", *services)
    assert done.returncode == 0, done.stdout[-2000:]


def service(path: Path) -> configparser.SectionProxy:
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",))
    parser.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]  as its documentation says
    parser.read(path)
    return parser["Service"]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_there_is_time_to_drain_and_hopeless_starts_are_not_repeated(path: Path) -> None:
    section = service(path)
    if section["Type"] == "oneshot":
        return
    assert float(section["TimeoutStopSec"].removesuffix("s")) > Settings().drain_seconds + FORCE_SECONDS + 5
    assert set(section["RestartPreventExitStatus"].split()) == {
        str(code.value) for code in (ExitCode.USAGE, ExitCode.SCHEMA_MISMATCH)
    }


def test_the_target_wants_units_that_there_are() -> None:
    [wants] = [line for line in TARGET.read_text().splitlines() if line.startswith("Wants=")]
    known = {path.name for path in UNITS}
    assert {name.replace("@1.", "@.") for name in wants.removeprefix("Wants=").split()} <= known
