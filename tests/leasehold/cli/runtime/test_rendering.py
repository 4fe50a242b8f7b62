from __future__ import annotations

from tests.leasehold.cli.conftest import Cli, Sql


def test_text_on_a_terminal_and_in_a_pipe_and_json_on_request(cli: Cli) -> None:
    assert cli("wake", terminal=True).out == "woke all workers\n"
    assert cli("wake").out == "woke all workers\n"
    assert cli("wake", "--output", "json").json() == {"queue": None}


def test_jsonl_gives_one_line_per_element(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo'); select leasehold.enqueue_job('echo')")
    lines = cli("jobs", "list", "--output", "jsonl").out.splitlines()
    assert [line.startswith('{"id":') for line in lines] == [True, True]


def test_an_empty_list_is_empty_for_programs_and_told_to_people(cli: Cli) -> None:
    assert cli("jobs", "list", "--output", "json").json() == []
    assert cli("jobs", "list", "--output", "jsonl").out == ""
    shown = cli("jobs", "list", "--output", "text")
    assert (shown.out, shown.err) == ("", "none\n")


def test_what_is_piped_is_neither_cut_nor_coloured(cli: Cli) -> None:
    cli("enqueue", "k" * 200)
    shown = cli("jobs", "list", "--output", "text", environ={"NO_COLOR": ""}).out
    assert "k" * 200 in shown
    assert "\x1b" not in shown


def test_a_terminal_gets_colours_unless_told_otherwise(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo')")
    terminal = {"TERM": "xterm", "COLUMNS": "100"}
    assert "\x1b[" in cli("jobs", "list", terminal=True, environ={**terminal, "NO_COLOR": ""}).out
    assert "\x1b[" not in cli("jobs", "list", terminal=True, environ={**terminal, "NO_COLOR": "1"}).out


def test_data_cannot_drive_the_terminal_nor_the_markup(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('[red]kind[/red]', key => 'a\x1b[2Jb')")
    shown = cli("jobs", "list", "--output", "text").out
    assert "[red]kind[/red]" in shown
    assert "a\\x1b[2Jb" in shown
