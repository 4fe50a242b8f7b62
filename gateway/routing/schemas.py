"""JSON schemas of the types that routes take and give, as the OpenAPI document has them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec

Schema = dict[str, Any]

PLACE = "#/components/schemas/"
PAGE = re.compile(r"Page_(?P<item>\w+)_$")
SECTION = re.compile(r"^(?P<name>Attributes|Args|Raises|Returns|Example):$", re.MULTILINE)
ENTRY = re.compile(r"^ {4}(?P<names>\w+(?:, \w+)*): (?P<text>.+(?:\n {5,}.+)*)", re.MULTILINE)


def describe_types(types: Iterable[object]) -> tuple[list[Schema], dict[str, Schema]]:
    """The schema of each type, and the components that they refer to, by name."""
    types = list(types)
    schemas, components = msgspec.json.schema_components(types, ref_template=PLACE + "{name}")  # pyright: ignore[reportArgumentType]
    more = _conditions(types)
    named = {
        _name(name): {**_explained(cast("Schema", schema), _name(name)), **more.get(name, {})}
        for name, schema in components.items()
    }
    return [_renamed(schema) for schema in schemas], {name: _renamed(named[name]) for name in sorted(named)}


def _conditions(types: Iterable[object]) -> dict[str, Schema]:
    """The conditions over several fields that Structs give in `__schema__`, by the name of the Struct."""
    found: dict[str, Schema] = {}
    for each in msgspec.inspect.multi_type_info(types):
        _collect(each, found)
    return found


def _collect(info: object, found: dict[str, Schema]) -> None:
    if isinstance(info, msgspec.inspect.StructType):
        if info.cls.__name__ in found:
            return
        found[info.cls.__name__] = dict(getattr(info.cls, "__schema__", {}))
        for field in info.fields:
            _collect(field.type, found)
    elif isinstance(info, msgspec.inspect.UnionType):
        for each in info.types:
            _collect(each, found)
    elif isinstance(info, msgspec.inspect.Metadata):
        _collect(info.type, found)
    elif isinstance(info, msgspec.inspect.ListType):
        _collect(info.item_type, found)


def without_null(schema: Schema) -> Schema:
    """The schema of an optional parameter, without null: a URL has no null."""
    kept = {name: value for name, value in schema.items() if not (name == "default" and value is None)}
    choices: list[Schema] = [each for each in kept.pop("anyOf", ()) if each != {"type": "null"}]
    if not choices:
        return kept
    return {**kept, **choices[0]} if len(choices) == 1 else {**kept, "anyOf": choices}


def summary_of(docstring: str | None) -> tuple[str, Mapping[str, str]]:
    """A docstring without its sections, and what its section of attributes says of each of them."""
    text = inspect.cleandoc(docstring or "")
    found = SECTION.search(text)
    said = text[: found.start()] if found else text
    if found is None or found["name"] != "Attributes":
        return _flowing(said), {}
    after = text[found.end() :]
    end = SECTION.search(after)
    return _flowing(said), dict(_attributes(after[: end.start()] if end else after))


def _attributes(section: str) -> Iterator[tuple[str, str]]:
    for entry in ENTRY.finditer(section):
        for name in entry["names"].split(", "):
            yield name, _flowing(entry["text"])


def _flowing(text: str) -> str:
    """Lines joined to paragraphs."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))


def _explained(schema: Schema, name: str) -> Schema:
    """The schema with the docstring of its Struct taken apart."""
    text, attributes = summary_of(schema.get("description"))
    properties = schema.get("properties", {})
    for each in attributes.keys() & properties.keys():
        properties[each] = _with_description(properties[each], attributes[each])
    return {**schema, "title": name, **({"description": text} if text else {})}


def _with_description(schema: Schema, text: str) -> Schema:
    return schema if "description" in schema or "$ref" in schema else {**schema, "description": text}


def _renamed(value: Any) -> Any:
    """With our names in the references, and with a type beside each enum, which code generators need."""
    if isinstance(value, list):
        return [_renamed(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    given = cast("Schema", value)
    made = {
        name: PLACE + _name(each.removeprefix(PLACE)) if name == "$ref" else _renamed(each)
        for name, each in given.items()
    }
    if (
        isinstance(made.get("enum"), list)
        and "type" not in made
        and all(isinstance(each, str) for each in made["enum"])
    ):
        made = {"type": "string", **made}
    return made


def _name(name: str) -> str:
    found = PAGE.match(name)
    return f"{found['item']}Page" if found else name
