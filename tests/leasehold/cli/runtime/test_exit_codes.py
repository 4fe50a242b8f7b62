from __future__ import annotations

from leasehold.cli.runtime.exit_codes import MEANINGS, ExitCode, describe_exit_codes, exit_code_of
from leasehold.errors import (
    ActorFailed,
    DatabaseUnavailable,
    InvalidArgs,
    LeaseLost,
    QueryRefused,
    SchemaMismatch,
    SettingsError,
    UnknownJob,
    WrongAddress,
    WrongState,
)

CASES: list[tuple[BaseException, int]] = [
    (InvalidArgs(), 2),
    (SettingsError(), 2),
    (UnknownJob(), 3),
    (WrongState(), 4),
    (LeaseLost(), 4),
    (DatabaseUnavailable(), 5),
    (WrongAddress(), 5),
    (QueryRefused(sqlstate="42501"), 1),
    (SchemaMismatch(), 6),
    (ActorFailed(), 1),
    (ValueError(), 1),
    (KeyboardInterrupt(), 130),
    (BrokenPipeError(), 141),
]


def test_each_error_has_its_exit_code() -> None:
    for error, code in CASES:
        assert exit_code_of(error) == code


def test_the_description_names_every_code() -> None:
    text = describe_exit_codes()
    assert set(MEANINGS) == set(ExitCode)
    assert all(f"  {code.value}  {meaning}" in text for code, meaning in MEANINGS.items())
