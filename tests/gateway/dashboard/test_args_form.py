"""Enqueueing with a form made of the schema of a kind's args."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Psql
from tests.gateway.dashboard.axe import faults_of
from tests.gateway.dashboard.conftest import At, OpenPage
from tests.gateway.dashboard.hostile import HOSTILE, is_too_wide
from tests.gateway.fakes.running import RunningGateway

MODULE = """async ([name, ...given]) => {
    const main = [...document.scripts].map((each) => each.src).find((each) => each.endsWith("main.js"));
    const module = await import(main.replace("main.js", "pages/enqueue/schema.js"));
    return module[name](...given);
}"""
ADDRESS = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}
SCHEMA: dict[str, Any] = {
    "$ref": "#/$defs/Args",
    "$defs": {
        "Address": ADDRESS,
        "Args": {
            "type": "object",
            "properties": {
                "order": {"type": "integer", "minimum": 1, "description": "the number on the bill"},
                "name": {"type": "string", "default": "Ada"},
                "rush": {"type": "boolean"},
                "size": {"enum": ["small", "large"]},
                "share": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
                "to": {"$ref": "#/$defs/Address"},
            },
            "required": ["order", "to"],
        },
    },
}


@pytest.fixture
def catalogue(open_page: OpenPage, at: At, psql: Psql, database_url: str) -> Callable[[dict[str, Any]], Page]:
    """Opens the form of a gateway whose catalogue says this of the kind `ship`."""

    def open_with(schema: dict[str, Any]) -> Page:
        kinds = json.dumps([{"kind": "ship", "args_schema": schema, "checks_args": False}])
        psql(database_url, f"select * from leasehold.declare_kinds($kinds${kinds}$kinds$)")
        page = open_page(at("/jobs?q=kind:none"))
        page.get_by_role("link", name="Enqueue", exact=True).click()
        return page

    return open_with


def test_a_schema_becomes_a_form(catalogue: Callable[[dict[str, Any]], Page], gateway: RunningGateway) -> None:
    page = catalogue(SCHEMA)
    page.get_by_label("Kind", exact=True).fill("ship")
    page.get_by_label("Kind", exact=True).press("Tab")
    form = page.get_by_role("group", name="Args")
    expect(form.get_by_label("order, at least 1")).to_be_visible()
    expect(form.get_by_label("name")).to_have_value("Ada")
    page.get_by_role("button", name="Enqueue").click()
    expect(page.get_by_text("It must be given.")).to_have_count(2)
    form.get_by_label("order, at least 1").fill("9007199254740993")
    form.get_by_label("rush").select_option("true")
    form.get_by_label("size").select_option(label="large")
    form.get_by_label(re.compile("^to")).fill('{"town": "Ulm"}')
    assert faults_of(page) == []
    page.get_by_role("button", name="Enqueue").click()
    page.get_by_role("status").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("ship")
    [job] = gateway.call("GET", "/api/jobs?kind=ship").body["items"]
    assert job["args"] == {
        "order": 9007199254740993, "name": "Ada", "rush": True, "size": "large", "to": {"town": "Ulm"}
    }  # fmt: skip


def test_json_can_be_written_instead(catalogue: Callable[[dict[str, Any]], Page], gateway: RunningGateway) -> None:
    page = catalogue(SCHEMA)
    page.get_by_label("Kind", exact=True).fill("ship")
    page.get_by_label("Kind", exact=True).press("Tab")
    page.get_by_role("button", name="Write JSON instead").click()
    page.get_by_label("Args, a JSON object").fill('{"order": 1}')
    page.get_by_role("button", name="Enqueue").click()
    expect(page.get_by_role("status").get_by_role("link")).to_be_visible()
    assert gateway.call("GET", "/api/jobs?kind=ship").body["items"][0]["args"] == {"order": 1}


def test_what_a_schema_says_is_only_text(catalogue: Callable[[dict[str, Any]], Page]) -> None:
    fields = {text: {"type": "string", "description": text, "default": text} for text in HOSTILE}
    page = catalogue({"type": "object", "properties": fields})
    page.set_viewport_size({"width": 390, "height": 800})
    page.get_by_label("Kind", exact=True).fill("ship")
    page.get_by_label("Kind", exact=True).press("Tab")
    expect(page.get_by_role("group", name="Args").get_by_role("textbox")).to_have_count(len(HOSTILE))
    assert not is_too_wide(page)


def test_fields_and_args_of_odd_schemas(open_page: OpenPage, at: At) -> None:
    page = open_page(at("/jobs"))

    def fields(schema: Any, args: dict[str, Any] | None = None) -> Any:
        return page.evaluate(MODULE, ["fieldsOf", schema, args or {}])

    for none in (None, True, {}, {"type": "array"}, {"type": "object"}, {"$ref": "#/$defs/gone"}, {"$ref": "#"}):
        assert fields(none) is None
    odd = {"properties": {
        "a": {"type": ["integer", "null"]}, "b": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "c": {"const": 7},
        "d": {"$ref": "https://example.org/x"}, "e": {"type": "string", "minLength": 2, "maxLength": 3},
    }}  # fmt: skip
    found = fields(odd, {"a": 5, "b": [1]})
    assert [(each["name"], each["type"], each["initial"]) for each in found] == [
        ("a", "integer", "5"), ("b", "json", "[\n  1\n]"), ("c", "choice", ""), ("d", "json", ""), ("e", "text", ""),
    ]  # fmt: skip
    assert (found[0]["mayBeNull"], found[4]["label"]) == (True, "e, 2 to 3 characters")
    read = page.evaluate(MODULE, ["argsOf", found, {"a": "1.5", "b": "[", "c": "7", "d": "", "e": " x "}])
    assert read["problems"] == {"a": "It must be a whole number.", "b": "It must be JSON."}
    assert read["args"] == {"c": 7, "e": " x "}
