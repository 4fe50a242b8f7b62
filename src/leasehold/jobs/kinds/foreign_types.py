"""Classes that msgspec does not know and that read and write JSON themselves: pydantic models, and any like them."""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard, cast, get_origin


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
    return isinstance(cls, type) and all(
        callable(getattr(cls, name, None)) for name in ("model_validate", "model_dump")
    )


def to_json(value: Any) -> Any:
    """For msgspec: what stands for a value that it does not know. Raises TypeError."""
    if is_model(cast("object", type(value))):
        return value.model_dump(mode="json")
    raise TypeError(f"JSON has no {type(value).__qualname__}")


def from_json(cls: type, value: Any) -> Any:
    """For msgspec: a value of a class that it does not know; what is one already stays. Raises TypeError or ValueError."""
    if is_model(cls):
        return cls.model_validate(value)
    if isinstance(value, get_origin(cls) or cls):
        return value
    raise TypeError(f"JSON cannot become a {cls.__qualname__}")
