from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.leasehold.cli.conftest import Cli

SHOP = """
from leasehold import App

app = App(version="{version}")


@app.kind(queue="{queue}", key="args.order_id")
async def charge(order_id: int) -> str: ...
"""


def write(folder: Path, name: str, version: str, queue: str) -> str:
    (folder / f"{name}.py").write_text(SHOP.format(version=version, queue=queue))
    return f"{name}:app"


def test_an_app_is_synced_listed_and_shown(cli: Cli, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    app = write(tmp_path, "catalogued_shop", "1", "orders")
    assert cli("kinds", "list", "--output", "json").json() == []
    assert cli("kinds", "sync", "--app", app, "--output", "json").json() == [{"kind": "charge", "outcome": "created"}]
    listed = cli("kinds", "list", "--output", "text", environ={"COLUMNS": "200"}).out
    assert all(word in listed for word in ("charge", "orders", "args.order_id", "checked"))
    shown = cli("kinds", "show", "charge", "--output", "json").json()
    assert (shown["queue"], shown["app"], shown["conflicts"]) == ("orders", app, [])
    text = cli("kinds", "show", "charge", "--output", "text", environ={"COLUMNS": "300"}).out
    assert '"order_id":{"type":"integer"}' in text
    unknown = cli("kinds", "show", "charg")
    assert (unknown.code, "no app has declared a kind 'charg'" in unknown.err) == (3, True)
    assert "charge" in unknown.err
    made = cli("enqueue", "charge", '{"order_id": 7}', "--output", "json").json()
    job = cli("jobs", "show", str(made["job_id"]), "--output", "json").json()
    assert "orders" in str(job)


def test_versions_that_disagree_are_named(cli: Cli, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for name, version, queue in (("older_shop", "1", "a"), ("newer_shop", "2", "b")):
        cli("kinds", "sync", "--app", write(tmp_path, name, version, queue))
    listed = cli("kinds", "list", "--output", "text", environ={"COLUMNS": "200"}).out
    assert "kind charge: version 1 of older_shop:app says otherwise of queue; 0 live workers run it" in listed
    assert cli("kinds", "sync", "--app", "older_shop:app", "--keep-newest", "--output", "json").json() == [
        {"kind": "charge", "outcome": "older"}
    ]


def test_without_an_app_the_command_says_how_to_name_one(cli: Cli) -> None:
    refused = cli("kinds", "sync")
    assert (refused.code, "--app module:attribute" in refused.err) == (2, True)


def test_a_kind_that_no_app_has_any_more_is_dropped(cli: Cli, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    cli("kinds", "sync", "--app", write(tmp_path, "former_shop", "1", "orders"))
    assert "none" in cli("kinds", "list", "--output", "text", environ={"COLUMNS": "200"}).out
    assert cli("kinds", "drop", "charge", "--output", "json").json() == {"kind": "charge"}
    assert cli("kinds", "list", "--output", "json").json() == []
    again = cli("kinds", "drop", "charge")
    assert (again.code, "nothing to drop" in again.err) == (3, True)
