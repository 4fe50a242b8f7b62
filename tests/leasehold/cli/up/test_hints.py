from __future__ import annotations

from leasehold.cli.up.first_steps import Hints

HINTS = Hints(url="http://127.0.0.1:8420", dsn="postgresql://ada:secret@host/db")


def test_the_first_run_tells_how_to_enqueue_by_http_sql_and_python() -> None:
    text = "\n".join(HINTS.full(80))
    assert 'curl http://127.0.0.1:8420/api/jobs --json \'{"kind": "echo"' in text
    assert "-c \"select leasehold.enqueue_job('echo')\"" in text
    assert "leasehold.open_client(" in text


def test_passwords_are_never_shown() -> None:
    assert "secret" not in "\n".join([*HINTS.full(80), HINTS.short()])


def test_rules_are_as_wide_as_the_terminal_and_not_wider_than_reads_well() -> None:
    for columns, width in ((60, 60), (200, 78)):
        first, *_, last = HINTS.full(columns)
        assert (len(first), len(last)) == (width, width)


def test_a_new_token_is_shown_once_and_commands_name_its_file() -> None:
    hints = Hints(url="http://[::]:1", dsn="", authorization="$(cat /data/token)", new_token=("lh_x", "/data/token"))
    text = "\n".join(hints.full(80))
    assert "  token      lh_x\n             made just now; kept in /data/token" in text
    assert '-H "authorization: Bearer $(cat /data/token)" --json' in text
    assert "lh_x" not in hints.short()
