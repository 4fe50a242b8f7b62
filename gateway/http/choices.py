"""The values that a field of a body or query may have, to be named when it is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from msgspec import inspect

STEP = re.compile(r"\.(\w+)|\[[^]]*\]")


def choices_at(shape: object, path: str) -> list[str]:
    """The values that a path such as `$.unique.on_conflict` may have in a body of type `shape`; empty if any value fits."""
    found = _outermost(shape)
    for name in STEP.findall(path):
        found = [member for each in found for inner in _inside(each, name) for member in _members(inner)]
    return [str(value) for each in found if isinstance(each, inspect.LiteralType) for value in each.values]


@cache
def _outermost(shape: object) -> list[inspect.Type]:
    return list(_members(inspect.type_info(shape)))


def _members(shape: inspect.Type) -> Iterable[inspect.Type]:
    """What it may be: a union is any of its types."""
    if isinstance(shape, inspect.Metadata):
        yield from _members(shape.type)
    elif isinstance(shape, inspect.UnionType):
        for each in shape.types:
            yield from _members(each)
    else:
        yield shape


def _inside(shape: inspect.Type, name: str) -> Iterable[inspect.Type]:
    """The types of the field of this name or, without a name, of the items of a list."""
    if isinstance(shape, inspect.StructType):
        yield from (field.type for field in shape.fields if field.encode_name == name)
    elif isinstance(shape, (inspect.ListType, inspect.VarTupleType)) and not name:
        yield shape.item_type
