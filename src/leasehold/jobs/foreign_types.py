"""Types of other libraries in args and outputs: models of pydantic, attrs classes, constraints. None of them is imported."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Protocol, TypeGuard, cast, get_args, get_origin

import msgspec

PLAIN = frozenset({str, int, float, bool, type(None), list, dict, tuple, set, frozenset})


class Model(Protocol):
    """What is asked of such a class. Nothing of pydantic is imported."""

    @classmethod
    def model_validate(cls, obj: Any, /) -> Any:
        """An instance made from what JSON became. Raises ValueError or TypeError."""
        ...

    def model_dump(self, *, mode: str) -> Any:
        """What `model_validate` takes, of types that JSON has."""
        ...


def is_model(cls: object) -> TypeGuard[type[Model]]:
    """Whether instances of this class can be args and outputs by themselves."""
    return (
        isinstance(cls, type)
        and callable(getattr(cls, "model_validate", None))
        and callable(getattr(cls, "model_dump", None))
    )


def to_json(value: Any) -> Any:
    """For msgspec: what stands for a value that it does not know. Raises TypeError or ValueError."""
    cls = cast("type[Any]", type(value))
    if hasattr(cls, "__pydantic_validator__"):
        return _dump(value, cls)
    if is_model(cls):
        return value.model_dump(mode="json")
    if isinstance(value, BaseException):
        raise TypeError(f"{cls.__qualname__} is an exception: raise it instead of returning it")
    raise TypeError(f"JSON has no {cls.__qualname__}")


def from_json(cls: type, value: Any) -> Any:
    """For msgspec: a value of a class that it does not know; what is one already stays. Raises TypeError or ValueError."""
    if cls is object:  # as the values of the `dict[str, object]` that many handlers return
        return value
    if is_model(cls):
        return cls.model_validate(value)
    if isinstance(value, get_origin(cls) or cls):
        return value
    raise TypeError(f"JSON cannot become a {cls.__qualname__}")


def _dump(model: Any, cls: type[Any]) -> Any:
    """What `model_validate` makes an equal model of: with the computed fields, unless it refuses them. Raises TypeError."""
    by_alias, problems = _reads_aliases(cls), list[str]()
    # A model in it may read what its own fields do not, and the other way round.
    for aliases, round_trip in ((by_alias, False), (by_alias, True), (not by_alias, False), (not by_alias, True)):
        dumped = model.model_dump(mode="json", by_alias=aliases, round_trip=round_trip)
        try:
            again = cls.model_validate(dumped)
            if again == model:
                return dumped
            names = [name for name in cls.model_fields if getattr(again, name) != getattr(model, name)]
            problems.append(f"{', '.join(names) or 'a private attribute'} would not come back equal")
        except Exception as error:  # validators are the user's
            problems.append(f"model_validate refuses what model_dump gives: {error}")
    raise TypeError(
        f"{cls.__qualname__} does not survive JSON: {problems[0]}. Secrets, fields with exclude=True and private attributes are "
        "left out; pass an id, or a type of yours without them"
    )


@lru_cache(maxsize=1024)
def _reads_aliases(cls: type[Any]) -> bool:
    """Whether a model reads the aliases that it writes; those for writing alone (`serialization_alias`) it does not."""
    return all(
        field.serialization_alias in (None, *getattr(field.validation_alias, "choices", (field.validation_alias,)))
        for field in cls.model_fields.values()
    )


def nodes_of(hint: Any) -> Iterator[Any]:
    """What msgspec knows of a type and of the types in it; nothing where it cannot read the type."""
    try:
        root = msgspec.inspect.type_info(hint)
    except (TypeError, NameError):
        return  # making the decoder says it better
    seen: set[int] = set()
    left: list[Any] = [root]
    while left:
        node = left.pop()
        if isinstance(node, tuple):
            left += cast("tuple[Any, ...]", node)
        elif isinstance(node, (msgspec.inspect.Type, msgspec.inspect.Field)) and id(node) not in seen:
            seen.add(id(node))
            yield node
            left += [getattr(node, field) for field in node.__struct_fields__ if field not in ("default", "cls")]


@lru_cache(maxsize=1024)
def loss_of(cls: type) -> str | None:
    """Why instances of an attrs class would lose something in JSON, and what to do; None where they would not."""
    for attribute in getattr(cls, "__attrs_attrs__", ()):
        if attribute.name.startswith("_") and attribute.eq:
            public = attribute.name.lstrip("_")
            return (
                f"{cls.__qualname__} is an attrs class, of which JSON leaves out {attribute.name}; "
                f"name it {public}, or take a dataclass or a msgspec.Struct"
            )
    return None


def loss_in(hint: Any) -> str | None:
    """As `loss_of`, for the first such class in a type."""
    dataclasses = (node.cls for node in nodes_of(hint) if isinstance(node, msgspec.inspect.DataclassType))
    return next((loss for cls in dataclasses if (loss := loss_of(cls))), None)


def strange_types(value: object) -> set[type]:
    """The types of a value and of its items, without those that JSON has: quick, and so not of what is in these."""
    cls = type(value)
    if cls is dict:
        found = set(map(type, cast("dict[object, object]", value).values()))
    elif cls in (list, tuple, set, frozenset):
        found = set(map(type, cast("list[object]", value)))
    else:
        found = {cls}
    return found - PLAIN


KEPT_ANYWAY = frozenset({"AllowInfNan", "DocInfo", "FailFast", "SkipValidation", "Strict", "Unit"})
"""Metadata that asks nothing of a value, or what msgspec asks anyway."""
CONSTRAINTS = {("annotated_types", "BaseMetadata"), ("annotated_types", "GroupedMetadata")}


def ignored_constraint(hint: Any) -> object | None:
    """The first constraint of pydantic or annotated-types in a type, which msgspec does not check; None without one."""
    seen: dict[int, Any] = {}
    left: list[Any] = [hint]
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen[id(each)] = each
        found = next(filter(_is_constraint, getattr(each, "__metadata__", ())), None)
        if found is not None:
            return found
        aliased = [getattr(each, name, None) for name in ("__supertype__", "__value__")]  # of NewType and `type X = …`
        left += [*aliased, *get_args(each)]
    return None


def _is_constraint(metadata: object) -> bool:
    cls = type(metadata)
    parents = {(parent.__module__.partition(".")[0], parent.__name__) for parent in cls.__mro__}
    if ("pydantic", "FieldInfo") in parents:
        return any(_is_constraint(each) for each in cast("Any", metadata).metadata)
    if cls.__name__ in KEPT_ANYWAY:
        return False
    is_of_pydantic = cls.__module__.partition(".")[0] == "pydantic"
    return not CONSTRAINTS.isdisjoint(parents) or (is_of_pydantic and hasattr(cls, "__get_pydantic_core_schema__"))
