from __future__ import annotations

import os
import subprocess
import sys

import pytest

from leasehold.concurrency.asyncio_border.chosen import VARIABLE, border_name
from leasehold.errors import SettingsError
from tests.support.waiting import PATIENCE

USES_A_DATABASE = (
    "import sys, leasehold.database.border as border; print(border.BORDER.name, 'trio_asyncio' in sys.modules)"
)


@pytest.mark.parametrize(
    ("version", "name"),
    [((3, 11), "trio-asyncio"), ((3, 13), "trio-asyncio"), ((3, 14), "stepped"), ((4, 0), "stepped")],
)
def test_the_python_decides_where_nobody_says_anything(version: tuple[int, int], name: str) -> None:
    assert border_name({}, version) == name
    assert border_name({VARIABLE: ""}, version) == name


def test_the_environment_decides_where_both_are_possible() -> None:
    assert border_name({VARIABLE: "stepped"}, (3, 11)) == "stepped"
    assert border_name({VARIABLE: "trio-asyncio"}, (3, 13)) == "trio-asyncio"
    assert border_name({VARIABLE: "stepped"}, (3, 14)) == "stepped"


def test_an_unknown_border_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(SettingsError, match="LEASEHOLD_ASYNCIO_BORDER is 'guest'; it takes trio-asyncio or stepped"):
        border_name({VARIABLE: "guest"}, (3, 11))


def test_trio_asyncio_is_refused_where_it_cannot_be_imported() -> None:
    with pytest.raises(
        SettingsError, match=r"cannot be imported on Python 3\.14 and later; leave it out or say stepped"
    ):
        border_name({VARIABLE: "trio-asyncio"}, (3, 14))


@pytest.mark.parametrize(("name", "said"), [("stepped", "stepped False\n")])
def test_a_process_that_steps_does_not_load_trio_asyncio(name: str, said: str) -> None:
    environ = {**os.environ, VARIABLE: name}
    done = subprocess.run(
        [sys.executable, "-c", USES_A_DATABASE],
        check=True,
        capture_output=True,
        text=True,
        env=environ,
        timeout=PATIENCE,
    )
    assert done.stdout == said
