from __future__ import annotations

from tools.sql_reference import TARGET, read_function, render


def test_the_reference_is_what_the_headers_say() -> None:
    assert TARGET.read_text() == render(), "run python tools/sql_reference.py"


def test_a_function_is_read_with_its_signature_and_its_words() -> None:
    function = read_function(
        "-- Purpose     Do it.\n-- Parameters  a: one\n--             b: two\n-- Callers     psql\n"
        "create or replace function leasehold.do_it(a integer,\n  b text default 'x)') "
        "returns table (c text) language sql\nas $$ $$;"
    )
    assert function.header["Parameters"] == "a: one · b: two"
    assert function.signature == "leasehold.do_it(a integer, b text default 'x)') returns table (c text)"
    assert function.is_public
