from __future__ import annotations

from leasehold.access.roles import EVERYBODY, public_functions
from leasehold.sql import read_folder
from tools.sql_reference import FOLDERS, FUNCTIONS, TARGET, callers_of, described_folders, read_function, render

TEXT = (
    "-- Purpose     Do it. Do it well.\n-- Parameters  a: one\n--             b: two\n"
    "create or replace function leasehold.{name}(a integer,\n  b text default 'x)') "
    "returns table (c text) language sql\nas $$ select leasehold.other(1) -- leasehold.third(2)\n $$;"
)


def test_the_reference_is_what_the_files_say() -> None:
    assert TARGET.read_text() == render(), "run python tools/sql_reference.py"


def test_a_function_is_read_with_its_signature_and_its_words() -> None:
    function = read_function(TEXT.format(name="do_it"))
    assert function.header["Parameters"] == "a: one · b: two"
    assert function.signature == "leasehold.do_it(a integer, b text default 'x)') returns table (c text)"
    assert function.summary == "Do it."


def test_callers_are_searched_in_bodies_without_their_comments() -> None:
    bodies = {"do_it": read_function(TEXT.format(name="do_it")).body}
    assert (callers_of("other", bodies), callers_of("third", bodies)) == (["do_it"], [])


def test_a_role_that_only_includes_another_one_is_not_named() -> None:
    assert read_function(TEXT.format(name="enqueue_job")).roles == ["producer"]
    assert read_function(TEXT.format(name="is_alive")).roles == ["reader", "scaler"]


def test_every_function_that_a_role_may_call_has_a_section_and_no_other_has_one() -> None:
    sections = {line.removeprefix("### ") for line in TARGET.read_text().splitlines() if line.startswith("### ")}
    assert sections == public_functions() | EVERYBODY
    assert sections < read_folder("functions").keys()


def test_every_folder_of_functions_is_described_and_no_other() -> None:
    folders = {path.relative_to(FUNCTIONS).as_posix() for path in FUNCTIONS.rglob("*") if path.is_dir()}
    assert described_folders(FOLDERS.read_text()).keys() == folders
