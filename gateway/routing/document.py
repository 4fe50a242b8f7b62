"""JSON schemas of the types that routes take and give, as the OpenAPI document has them."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any, cast

import msgspec

from leasehold.gateway.http.problems import Problem, ProblemType
from leasehold.gateway.http.reading import members
from leasehold.gateway.http.replies import JSON
from leasehold.gateway.routing.routes import Route

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
    left = list(msgspec.inspect.multi_type_info(types))
    while left:
        for each in members(left.pop()):
            if isinstance(each, msgspec.inspect.ListType):
                left.append(each.item_type)
            elif isinstance(each, msgspec.inspect.StructType) and each.cls.__name__ not in found:
                found[each.cls.__name__] = dict(getattr(each.cls, "__schema__", {}))
                left += [field.type for field in each.fields]
    return found


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
    lead = text[: found.start()] if found else text
    if found is None or found["name"] != "Attributes":
        return _flowing(lead), {}
    after = text[found.end() :]
    end = SECTION.search(after)
    return _flowing(lead), dict(_attributes(after[: end.start()] if end else after))


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
        if not {"description", "$ref"} & properties[each].keys():
            properties[each] = {**properties[each], "description": attributes[each]}
    return {**schema, "title": name, **({"description": text} if text else {})}


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


PROBLEM_JSON = "application/problem+json"
JOB_PATHS = ("/api/jobs/", "/api/chains/")
IN_PATH = re.compile(r"{(\w+)}")

ABOUT = """\
Background jobs on nothing but Postgres.

Times are RFC 3339, durations are seconds, ids are integers. Lists are `{"items": […], "next": cursor}`: pass `next` as `cursor`
for the page that follows, until it is null. What is not a success is a problem (RFC 9457) with a stable `code`. Query parameters
and fields that a route does not know are refused.
"""
TAGS: Mapping[str, str] = {
    "jobs": "Enqueue, look, change.",
    "chains": "Jobs that continue one another, and jobs that wait for others.",
    "queues": "Pause, resume, limit.",
    "schedules": "Jobs by the clock.",
    "payloads": "What is too large for a row, and what has changed.",
    "workers": "The fleet, and what it is told to do.",
    "capacity": "What queues have, do and can do.",
    "events": "What happens, as it happens.",
    "health": "Probes and metrics.",
    "egress": "Identities under which jobs call servers of others.",
    "access": "Tokens, and what was done with them.",
    "documents": "This document.",
    "aliases": "Paths of other systems' documents: the same handlers, kept so that their clients go on working.",
}
REQUEST_HEADERS: Mapping[str, tuple[str, Schema]] = {
    "Idempotency-Key": (
        "A repeated call with the same key writes nothing more and answers with what the first one made; another body with it is "
        "refused.",
        {"type": "string", "minLength": 1, "maxLength": 500, "pattern": "^[ -~]+$"},
    ),
    "Prefer": (
        "`wait=N`: answer when the result is there, or after N seconds, 60 at the most (RFC 7240).",
        {"type": "string"},
    ),
    "Last-Event-ID": ("Go on after this event.", {"type": "string"}),
}
ANSWER_HEADERS: Mapping[str, str] = {
    "X-Request-Id": "Names this request in the gateway's log; yours, if you send one of 1 to 128 letters, digits and `_.:-`.",
    "Location": "Where the job is.",
    "Preference-Applied": "Which preference was heeded.",
    "Retry-After": "In how many seconds it may be worth while to try again.",
    "WWW-Authenticate": "How to authenticate.",
}


ABOUT_ALIASES = """\
Paths and words that clients of task workers know: a job is a task, a queue a role, a key a dispensary or store. They are kept so
that these clients go on working; new ones take those of `/openapi.json`, where conventions and all else are described.
"""


def document_of(routes: Sequence[Route]) -> dict[str, Any]:
    """The document that describes `routes`, those that are listed and no aliases."""
    return _document([route for route in routes if route.alias_of is None], "leasehold", ABOUT)


def alias_document_of(routes: Sequence[Route]) -> dict[str, Any]:
    """The document that describes the aliases among `routes`."""
    worded = [route.worded for route in routes if route.worded is not None]
    aliases = [*(route for route in routes if route.alias_of is not None), *worded]
    return _document(aliases, "leasehold for clients of task workers", ABOUT_ALIASES)


def _document(routes: Sequence[Route], title: str, about: str) -> dict[str, Any]:
    routes = [route for route in routes if route.is_listed]
    describer = _Describer(routes)
    paths: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for route in routes:
        paths[route.path][route.method.lower()] = describer.operation(route)
    used = {tag for route in routes for tag in route.tags}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": version("leasehold"),
            "description": about,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": tag, "description": TAGS.get(tag, "")} for tag in sorted(used, key=_place_of_tag)],
        "paths": dict(paths),
        "components": {
            "schemas": describer.components,
            "responses": dict(sorted(describer.problems.items())),
            "headers": {
                name: {"description": text, "schema": {"type": "string"}} for name, text in ANSWER_HEADERS.items()
            },
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token must have the scopes that an operation names. On loopback, a gateway without any "
                    "token lets everybody in.",
                }
            },
        },
    }


class _Describer:
    """Describes routes; knows the schemas of everything that they take and give."""

    def __init__(self, routes: Sequence[Route]) -> None:
        types = list({repr(each): each for route in routes for each in _types_of(route)}.values())
        schemas, self.components = describe_types([*types, Problem])
        self.problems: dict[str, dict[str, Any]] = {}
        self._schemas = {repr(each): schema for each, schema in zip([*types, Problem], schemas, strict=True)}
        names = [route.handler.__name__ for route in routes if route.alias_of is None]
        self._unique = {name for name in names if names.count(name) == 1}
        self._links = {
            self._id_of(route): {"operationId": self._id_of(route), "parameters": {"id": "$response.body#/id"}}
            for route in routes
            if route.alias_of is None and "{id}" in route.path and route.path.startswith(JOB_PATHS)
        }

    def operation(self, route: Route) -> dict[str, Any]:
        text, _ = summary_of(route.handler.__doc__)
        if route.alias_of is not None:
            is_other = route.alias_of != route.path
            what = (
                f"Another path of `{route.method} {route.alias_of}`" if is_other else "Other words at one of our paths"
            )
            text = f"{what}, kept for clients of other systems.\n\n{text}"
        operation: dict[str, Any] = {
            "operationId": self._id_of(route),
            "summary": route.summary,
            "description": text,
            "tags": list(route.tags),
            "security": [{"token": [each.value for each in route.scopes]}] if route.scope else [],
        }
        if route.alias_of is not None:
            operation["deprecated"] = True
        if parameters := [*self._targets(route), *_headers(route)]:
            operation["parameters"] = parameters
        if route.request is not None:
            content: dict[str, Any] = {"schema": self._schema(route.request)}
            if route.example is not None:
                content["example"] = route.example
            operation["requestBody"] = {"required": not route.is_body_optional, "content": {JSON: content}}
        operation["responses"] = {**self._successes(route), **self._problems(route)}
        return operation

    def _id_of(self, route: Route) -> str:
        name = route.handler.__name__
        if route.alias_of is None and name in self._unique:
            return name
        return "_".join(re.findall(r"\w+", f"{route.method.lower()} {route.path}"))

    def _schema(self, each: object) -> Schema:
        return self._schemas[repr(each)]

    def _targets(self, route: Route) -> Iterable[dict[str, Any]]:
        # By itself: its schema is taken apart, and is no component.
        _, components = describe_types([route.parameters])
        schema = components[route.parameters.__name__]
        in_path = IN_PATH.findall(route.path)
        for name, given in schema.get("properties", {}).items():
            described = without_null(given)
            text = described.pop("description", None)
            place: dict[str, Any] = {"in": "path", "required": True} if name in in_path else {"in": "query"}
            if place["in"] == "query" and name in schema.get("required", ()):
                place["required"] = True
            if "contentMediaType" in described:
                typed = {"content": {described["contentMediaType"]: {"schema": described["contentSchema"]}}}
            else:
                typed = {"schema": described}
            yield {"name": name, **place, **({"description": text} if text else {}), **typed}

    def _successes(self, route: Route) -> dict[str, Any]:
        answers = {str(route.status): self._answer(route, "As asked.", route.response)}
        if route.makes_a_job:
            answers[str(route.status)]["links"] = self._links
        for success in route.successes:
            answers[str(success.status)] = self._answer(route, success.when, success.response, success.status)
        return answers

    def _problems(self, route: Route) -> dict[str, Any]:
        """One response for each status, with the codes that it may have; those of the same codes are shared."""
        by_status: defaultdict[int, list[ProblemType]] = defaultdict(list)
        for problem in sorted(route.all_errors, key=lambda each: (each.status, each.code)):
            by_status[problem.status].append(problem)
        answers: dict[str, Any] = {}
        for status, problems in by_status.items():
            name = ".".join(each.code for each in problems)
            self.problems[name] = _problem(status, problems)
            answers[str(status)] = {"$ref": f"#/components/responses/{name}"}
        return answers

    def _answer(self, route: Route, text: str, response: object | None, status: int | None = None) -> dict[str, Any]:
        headers = ["X-Request-Id"]
        if "Prefer" in route.headers:
            headers += ["Location", *(["Preference-Applied"] if status else [])]
        answer: dict[str, Any] = {"description": text, "headers": _refer(*headers)}
        if response is not None:
            answer["content"] = {route.media_type.partition(";")[0]: {"schema": self._schema(response)}}
        return answer


def _types_of(route: Route) -> Iterable[object]:
    given = (route.request, route.response, *(each.response for each in route.successes))
    return [each for each in given if each is not None]


def _headers(route: Route) -> Iterable[dict[str, Any]]:
    for name in route.headers:
        text, schema = REQUEST_HEADERS[name]
        yield {"name": name, "in": "header", "description": text, "schema": schema}


def _problem(status: int, problems: Sequence[ProblemType]) -> dict[str, Any]:
    headers = {401: ["WWW-Authenticate"], 403: ["WWW-Authenticate"], 429: ["Retry-After"], 503: ["Retry-After"]}
    codes = {"type": "object", "properties": {"code": {"type": "string", "enum": [each.code for each in problems]}}}
    return {
        "description": " · ".join(f"`{each.code}`: {each.title}" for each in problems),
        "headers": _refer("X-Request-Id", *headers.get(status, [])),
        "content": {PROBLEM_JSON: {"schema": {"allOf": [{"$ref": f"{PLACE}Problem"}, codes]}}},
    }


def _refer(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _place_of_tag(tag: str) -> tuple[int, str]:
    known = list(TAGS)
    return (known.index(tag) if tag in known else -1, tag)
