"""Numbers of jobs and the like are taken as they are written, by every command."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from cyclopts import Parameter

from leasehold.cli.runtime.options import whole_number
from leasehold.cli.shell.command_table import MODULES, load_command
from tests.leasehold.cli.conftest import Cli

REFUSED = [
    "jobs cancel 2.7", "jobs cancel 2 1.9", "jobs show 0x1", "jobs show 1_0", "jobs show \u0661", "jobs list --limit 2.5",
    "enqueue echo --priority 1.5", "run worker --slots 2.5",
]  # fmt: skip


def test_a_number_that_is_not_whole_is_refused_and_not_rounded(cli: Cli) -> None:
    for _ in range(3):
        cli("enqueue", "echo")
    for command in REFUSED:
        done = cli(*command.split())
        number = command.rsplit(maxsplit=1)[-1]
        assert (done.code, done.out) == (2, ""), command
        assert f'unable to convert "{number}" into int' in done.err, command
    assert {each["state"] for each in cli("jobs", "list", "--output", "json").json()} == {"pending"}
    assert cli("enqueue", "echo", "--priority", "-3").code == 0


def numbers(name: str, hint: object) -> Iterator[tuple[str, list[Parameter]]]:
    """The arguments that are whole numbers, with what is said of each, also those in groups of options."""
    base, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if is_dataclass(base):
        for inner, each in get_type_hints(base, include_extras=True).items():
            yield from numbers(inner, each)
    elif int in (base, *get_args(base)):
        yield name, [note for note in notes if isinstance(note, Parameter)]


def test_every_command_takes_its_numbers_so() -> None:
    found: dict[str, Any] = {
        f"{command} {name}": [note.converter for note in notes]
        for command in MODULES
        for argument, hint in load_command(command).__annotations__.items()
        for name, notes in numbers(argument, hint)
        if argument != "return"
    }
    assert len(found) > 40
    assert [name for name, converters in found.items() if whole_number not in converters] == []
