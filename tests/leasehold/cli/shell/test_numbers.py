"""A flag that takes a number says so."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

from leasehold.cli.runtime.options import CommonOptions
from leasehold.cli.shell.command_table import MODULES, load_command
from tests.leasehold.cli.conftest import Cli

WORDS = {int: "INT", float: "FLOAT"}


def numeric_flags(function: Any) -> Iterator[tuple[str, str]]:
    """Flag and word of each parameter that is a number, in the groups of flags that a command takes, too."""
    hints = get_type_hints(function)
    for name, hint in hints.items():
        if hint is not CommonOptions and dataclasses.is_dataclass(hint):
            yield from numeric_flags(hint)
        for kind, word in WORDS.items():
            if kind in (hint, *get_args(hint)) and is_flag(function, name):
                yield "--" + name.replace("_", "-"), word


def is_flag(function: Any, name: str) -> bool:
    parameter = inspect.signature(function).parameters.get(name)
    return parameter is not None and (
        dataclasses.is_dataclass(function) or parameter.kind is inspect.Parameter.KEYWORD_ONLY
    )


NUMERIC = {name: found for name in MODULES if (found := list(numeric_flags(load_command(name))))}


def test_numeric_flags_say_which_number_they_take(run_cli: Cli) -> None:
    for name, flags in NUMERIC.items():
        text = run_cli(*name.split(), "--help", environ={"COLUMNS": "200"}).out
        for flag, word in flags:
            assert re.search(rf"{flag}( -\w)? {word}\b", text), (flag, word)


def test_many_commands_have_such_flags() -> None:
    assert len(NUMERIC) > 10
