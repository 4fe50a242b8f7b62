"""Whether a value fits a JSON Schema, as SQL judges it: beside examples, against msgspec and jsonschema for generated ones."""

from __future__ import annotations

import json
from typing import Annotated, Any, cast

import hypothesis.strategies as some
import jsonschema
import msgspec
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy
from msgspec import Meta

from leasehold.database import Database, open_database
from leasehold.jobs.catalogue import json_schema
from tests.support.sql_kinds import ORDER

CASES: list[tuple[Any, Any, str | None]] = [
    ({"type": "integer"}, 1, None),
    ({"type": "integer"}, 1.0, None),
    ({"type": "integer"}, 1.5, "args must be integer, not 1.5"),
    ({"type": "integer"}, True, "args must be integer, not boolean"),
    ({"type": ["string", "number"]}, "x", None),
    ({"type": ["string", "number"]}, None, "args must be string or number, not null"),
    ({"enum": ["a", 1, None]}, None, None),
    ({"enum": ["a", 1]}, "b", 'args must be one of "a", 1, not "b"'),
    ({"const": {"a": [1]}}, {"a": [1]}, None),
    ({"const": 1}, 2, "args must be 1, not 2"),
    ({"minimum": 3}, 3, None),
    ({"minimum": 3}, 2.5, "args must be at least 3, not 2.5"),
    ({"exclusiveMaximum": 3}, 3, "args must be less than 3, not 3"),
    ({"maximum": 3}, "x", None),
    ({"minLength": 2}, "ж", "args must have at least 2 characters, not 1"),
    ({"maxLength": 2}, "жж", None),
    ({"pattern": "^[a-z]+$"}, "abc", None),
    ({"pattern": "^[a-z]+$"}, "ab1", "args must match ^[a-z]+$"),
    ({"pattern": r"^\w+$"}, "-", None),
    ({"pattern": "(?i)a"}, "b", None),
    ({"minItems": 2}, [1], "args must have at least 2 items, not 1"),
    ({"items": {"type": "string"}}, ["a", 1], "args[1] must be string, not 1"),
    ({"prefixItems": [{"type": "integer"}], "items": False}, [1], None),
    ({"prefixItems": [{"type": "integer"}], "items": False}, [1, 2], "args[1] must not be there"),
    (ORDER, {"order_id": 1}, None),
    (ORDER, {}, "args.order_id is missing"),
    (ORDER, {"order_id": 1, "more": 2}, "args.more is unknown; known are note, order_id"),
    (ORDER, {"order_id": {"a": 1}}, "args.order_id must be integer, not object"),
    ({"additionalProperties": {"type": "integer"}}, {"a": "x"}, "args.a must be integer, not string"),
    ({"patternProperties": {"^a": {}}, "additionalProperties": False}, {"b": 1}, None),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", "args must be integer, not string; or args must be null, not string"),
    ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 1, None),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, 3, "args must be at most 2, not 3"),
    ({"$ref": "#/$defs/node"}, {"next": {"next": 5}}, "args.next.next must be object, not 5"),
    ({"$ref": "#/$defs/loop"}, 5, None),
    ({"$ref": "elsewhere.json"}, 5, None),
    ({"not": {}, "format": "email", "multipleOf": 7}, 5, None),
    (True, 5, None),
]  # fmt: skip
DEFS = {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}, "loop": {"$ref": "#/$defs/loop"}}


async def test_the_first_thing_that_does_not_fit_is_told(database: Database) -> None:
    for schema, value, complaint in CASES:
        texts = (json.dumps(value), json.dumps(schema), json.dumps(DEFS))
        assert await database.call_value("refuse_value", *texts, "args") == complaint


def judged(dsn: str, schema: Any, values: list[bytes]) -> list[bool]:
    """Whether SQL takes each of these values; its shortcut must agree where it says yes."""

    async def ask() -> list[bool]:
        async with open_database(dsn, pool_size=1) as database:
            rows = await database.fetch(
                "select leasehold.refuse_value(v.doc::jsonb, $1::jsonb, $1::jsonb -> '$defs', 'args') is null as fits,"
                " (select leasehold.is_easy(v.doc::jsonb, e.path, e.names)"
                "  from leasehold.make_easy_args($1::jsonb) e where v.doc <> 'null') as easy"
                " from unnest($2::text[]) with ordinality v(doc, n) order by n",
                json.dumps(schema),
                [value.decode() for value in values],
            )
            assert not [row for row in rows if row["easy"] and not row["fits"]]
            return [row["fits"] for row in rows]

    return trio.run(ask)


texts = some.text(some.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
numbers = some.one_of(
    some.integers(-5, 5), some.floats(-5, 5), some.integers(), some.sampled_from([1e300, -0.0, 2**63])
)
values = some.recursive(
    some.one_of(some.none(), some.booleans(), numbers, texts, some.sampled_from(["a", "ab", "abc", "a\n"])),
    lambda inner: some.one_of(
        some.lists(inner, max_size=3), some.dictionaries(some.sampled_from(["a", "b", "c"]), inner, max_size=3)
    ),
    max_leaves=6,
)
TYPES = ["string", "integer", "number", "boolean", "null", "array", "object"]
LIMITS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
LENGTHS = ["minLength", "maxLength", "minItems", "maxItems"]
PATTERNS: list[Any] = [{"pattern": each} for each in ("^[a-c]*$", "b+", "^a?b{1,2}$", r"^\d$")]


def word(name: str, value: Any) -> Any:
    return {name: value}


def record(properties: Any, required: Any, others: Any) -> Any:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": others}


def words(names: list[str], of: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return some.builds(word, some.sampled_from(names), of)


def larger(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
    properties = some.dictionaries(some.sampled_from(["a", "b"]), inner, max_size=2)
    required = some.lists(some.sampled_from(["a", "b"]), max_size=2, unique=True)
    return some.one_of(
        some.builds(word, some.just("items"), inner),
        words(["anyOf", "allOf"], some.lists(inner, min_size=1, max_size=3)),
        some.builds(record, properties, required, some.one_of(some.booleans(), inner)),
    )


leaves: SearchStrategy[Any] = some.one_of(
    words(["type"], some.sampled_from(TYPES)),
    words(["enum"], some.lists(values, min_size=1, max_size=3)),
    words(["const"], values),
    words(LIMITS, some.integers(-4, 4)),
    words(LENGTHS, some.integers(0, 3)),
    some.sampled_from([*PATTERNS, {}, True]),
)
schemas: SearchStrategy[Any] = some.recursive(leaves, larger, max_leaves=5)
CHECKED_ALIKE = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def without_patterns_of_python(schema: Any) -> Any:
    """The schema as SQL reads it: patterns that may mean something else to Postgres are none."""
    if isinstance(schema, list):
        return [without_patterns_of_python(each) for each in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    return {
        name: value if name in ("enum", "const") else without_patterns_of_python(value)
        for name, value in cast("dict[str, Any]", schema).items()
        if name != "pattern" or ("\\d" not in str(value) and "a-c" not in str(value))
    }


def test_for_generated_schemas_sql_judges_as_jsonschema_does(database_url: str) -> None:
    @CHECKED_ALIKE
    @given(schemas, some.lists(values, min_size=20, max_size=20))
    def check(schema: Any, given_values: list[Any]) -> None:
        told = without_patterns_of_python(schema)
        judge: Any = jsonschema.Draft202012Validator(told)
        encoded = [msgspec.json.encode(value) for value in given_values]
        read = [json.loads(each) for each in encoded]
        for value, fits in zip(read, judged(database_url, schema, encoded), strict=True):
            if "\\n" in json.dumps(value) and "pattern" in str(schema):
                assert fits or not judge.is_valid(value)
            else:
                assert fits == judge.is_valid(value), (schema, value)

    check()


class Point(msgspec.Struct, forbid_unknown_fields=True):
    a: int
    b: str = "x"


class Node(msgspec.Struct):
    a: float | None = None
    b: Node | None = None


class Cat(msgspec.Struct, tag="ab"):
    a: bool


class Dog(msgspec.Struct, tag="abc"):
    b: int


simple: list[Any] = [
    int, str, bool, float, None, Any, list[int], dict[str, int], tuple[int, str], tuple[int, ...], set[str], Point, Node, Cat | Dog,
    int | None, str | int, list[Point], Annotated[int, Meta(ge=1, lt=4)], Annotated[str, Meta(min_length=1, max_length=2)],
    Annotated[list[Any], Meta(max_length=1)], Annotated[float, Meta(gt=-1.5)], Annotated[str, Meta(pattern="^[a-z]b*$")],
]  # fmt: skip
hints: SearchStrategy[Any] = some.sampled_from(simple)


def test_sql_refuses_nothing_that_the_handler_takes_and_takes_what_it_refuses_only_for_whole_floats(
    database_url: str,
) -> None:
    @CHECKED_ALIKE
    @given(some.dictionaries(some.sampled_from(["a", "b", "c"]), hints, min_size=1, max_size=3), some.data())
    def check(parameters: dict[str, Any], data: some.DataObject) -> None:
        args = msgspec.defstruct("args", list(parameters.items()), forbid_unknown_fields=True)
        decoder = msgspec.json.Decoder(args)
        schema = json_schema(args)
        assert schema is not None
        given_values = data.draw(
            some.lists(some.fixed_dictionaries(dict.fromkeys(parameters, values)), min_size=20, max_size=20)
        )
        encoded = [msgspec.json.encode(value) for value in given_values]
        for document, fits in zip(encoded, judged(database_url, schema, encoded), strict=True):
            try:
                decoder.decode(document)
            except msgspec.ValidationError:
                assert not fits or b"." in document or b"e" in document, (schema, document)
            else:
                assert fits, (schema, document)

    check()
