from __future__ import annotations

import io
import logging
from collections.abc import Generator
from typing import Any, Literal

import msgspec
import pytest

from leasehold.observability.logs import current_logging, install_logging, redact_dsn, redact_dsns, uninstall_logging


class FakeTty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def root_as_before() -> Generator[None]:
    level = logging.getLogger().level
    yield
    uninstall_logging()
    logging.getLogger().setLevel(level)


def json_line(stream: io.StringIO) -> dict[str, Any]:
    [line] = stream.getvalue().splitlines()
    return msgspec.json.decode(line, type=dict[str, Any])


def test_json_lines_carry_the_extra_fields() -> None:
    stream = io.StringIO()
    install_logging("info", "auto", stream=stream)
    logging.getLogger("leasehold.actors.running.slot").info(
        "claimed job", extra={"job_id": 7, "kind": "echo", "action": "claim"}
    )
    line = json_line(stream)
    assert line.pop("at").endswith("Z")
    assert line == {
        "level": "info",
        "logger": "leasehold.actors.running.slot",
        "message": "claimed job",
        "job_id": 7,
        "kind": "echo",
        "action": "claim",
    }


def test_an_error_comes_with_type_message_and_traceback() -> None:
    stream = io.StringIO()
    install_logging("info", "json", stream=stream)
    try:
        int("postgresql://ada:secret@host/db")
    except ValueError:
        logging.getLogger("x").exception("failed")
    error = json_line(stream)["error"]
    assert error["type"] == "ValueError"
    assert "postgresql://ada:***@host/db" in error["message"]
    assert "test_logs.py" in error["traceback"]
    assert "secret" not in stream.getvalue()


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("not today")


@pytest.mark.parametrize("value", [object(), Unprintable(), "\ud800", {1: object()}, float("nan"), {(1, 2): 3}])
def test_a_field_that_json_cannot_hold_does_not_lose_the_line(value: object) -> None:
    stream = io.StringIO()
    install_logging("info", "json", stream=stream)
    logging.getLogger("x").info("here", extra={"odd": value})
    assert json_line(stream)["message"] == "here"


def test_a_field_cannot_forge_the_message() -> None:
    stream = io.StringIO()
    install_logging("info", "json", stream=stream)
    logging.getLogger("x").info("here", extra={"level": "forged", "at": "forged"})
    assert json_line(stream)["level"] == "info"


def test_text_is_one_short_line_and_plain_off_a_terminal() -> None:
    stream = io.StringIO()
    install_logging("info", "text", stream=stream)
    logging.getLogger("leasehold.actors.running.slot").warning("backing off", extra={"memory": 0.91, "why": "too full"})
    clock, line = stream.getvalue().split(" ", maxsplit=1)
    assert len(clock) == len("13:00:05.123")
    assert line == "WARNING slot: backing off  memory=0.91 why='too full'\n"


def test_text_of_ours_keeps_the_job_id_and_does_not_repeat_what_else_the_message_tells() -> None:
    stream = io.StringIO()
    install_logging("info", "text", stream=stream)
    extra = {"job_id": 7, "kind": "echo", "attempt": 2, "incarnation": "b7"}
    logging.getLogger("leasehold.x").info("claimed job 7 of kind echo-2, attempt 2", extra=extra)
    assert stream.getvalue().endswith("claimed job 7 of kind echo-2, attempt 2  job_id=7 kind=echo\n")


def test_text_of_others_keeps_all_fields_whatever_its_message_has() -> None:
    stream = io.StringIO()
    install_logging("info", "text", stream=stream)
    logging.getLogger("x").info("job 1 of 10: default value used", extra={"job_id": 1, "queue": "default"})
    assert stream.getvalue().endswith("job 1 of 10: default value used  job_id=1 queue=default\n")


def test_a_number_that_happens_to_be_in_the_message_does_not_stand_for_the_job() -> None:
    stream = io.StringIO()
    install_logging("info", "text", stream=stream)
    logging.getLogger("x").info("charging 1 of 2 cards", extra={"job_id": 1, "attempt": 2})
    assert stream.getvalue().endswith("charging 1 of 2 cards  job_id=1 attempt=2\n")


def test_a_terminal_gets_text_in_colour_unless_told_otherwise() -> None:
    coloured, plain = FakeTty(), FakeTty()
    install_logging("info", "auto", stream=coloured, environ={})
    logging.getLogger("x").error("ouch")
    install_logging("info", "auto", stream=plain, environ={"NO_COLOR": "1"})
    logging.getLogger("x").error("ouch")
    assert "\x1b[31mERROR  \x1b[0m x: ouch" in coloured.getvalue()
    assert "ERROR   x: ouch" in plain.getvalue()


def test_control_characters_cannot_drive_the_terminal() -> None:
    stream = io.StringIO()
    install_logging("info", "text", stream=stream)
    logging.getLogger("x").info("a\nforged line\x1b[2J", extra={"key": "b\x1bc"})
    assert len(stream.getvalue().splitlines()) == 1
    assert "\x1b" not in stream.getvalue()


def test_a_message_that_cannot_be_formatted_is_still_a_line() -> None:
    record = logging.makeLogRecord({"msg": "%d jobs", "args": ("no number",), "name": "x"})
    assert "%d jobs ('no number',)" in install_logging(stream=io.StringIO()).format(record)


def test_the_level_is_kept_and_a_second_installation_replaces_the_first() -> None:
    first, second = io.StringIO(), io.StringIO()
    install_logging("debug", "text", stream=first)
    install_logging("warning", "text", stream=second)
    logging.getLogger("x").info("quiet")
    logging.getLogger("x").warning("heard")
    assert first.getvalue() == ""
    assert "heard" in second.getvalue()
    assert "quiet" not in second.getvalue()


@pytest.mark.parametrize(
    ("dsn", "shown"),
    [
        ("postgresql://ada:secret@host:5432/db", "postgresql://ada:***@host:5432/db"),
        ("postgresql://ada@host/db", "postgresql://ada@host/db"),
        (
            "postgresql://host/db?user=ada&password=secret&sslmode=require",
            "postgresql://host/db?user=ada&password=***&sslmode=require",
        ),
        ("postgresql://ada:p@ss@host/db", "postgresql://ada:***@host/db"),
        ("postgresql://ada:pa/ss@host/db", "postgresql://ada:***@host/db"),
        ("postgresql://postgres@/postgres?host=/run/pg", "postgresql://postgres@/postgres?host=/run/pg"),
        ("postgresql://host:5432/db", "postgresql://host:5432/db"),
        ("host=a password=secret", "host=a password=***"),
        ("", ""),
    ],
)
def test_passwords_in_connection_strings_are_masked(dsn: str, shown: str) -> None:
    assert redact_dsn(dsn) == shown


def test_connection_strings_inside_a_text_are_masked() -> None:
    text = "cannot reach postgresql://ada:secret@host/db, see https://example.org/a:b@c"
    assert redact_dsns(text) == "cannot reach postgresql://ada:***@host/db, see https://example.org/a:b@c"


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_what_is_installed_can_be_installed_alike_elsewhere(log_format: Literal["text", "json"]) -> None:
    uninstall_logging()
    assert current_logging()[0] is None
    install_logging("warning", log_format, stream=io.StringIO())
    try:
        assert current_logging() == (logging.WARNING, log_format)
    finally:
        uninstall_logging()
