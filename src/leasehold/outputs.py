"""Outputs of chains, as the kind that began them declares them."""

from __future__ import annotations

import inspect
from functools import lru_cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from leasehold.continuation import ContinueWith
from leasehold.errors import BadInput
from leasehold.kind import Kind

R = TypeVar("R")


def typed_output(kind: Kind[..., R], output: Any) -> R:
    """The output of a chain that a job of this kind began, as what its handler is annotated to return.

    `ContinueWith[R]` stands for an `R` that a later job returns. Without an annotation the output is left as it is.

    Raises:
        BadInput: it does not fit.
    """
    try:
        return msgspec.convert(output, output_type(kind), strict=True, str_keys=True)
    except (msgspec.ValidationError, TypeError) as error:
        raise BadInput(f"the output of the chain does not fit what {kind.name} promises: {error}") from error


@lru_cache(maxsize=1024)
def output_type(kind: Kind[..., Any]) -> Any:
    """What the handler of a kind is annotated to return; Any where that cannot be told."""
    try:
        hint = get_type_hints(inspect.unwrap(kind.function), include_extras=True).get("return", Any)
    except (NameError, TypeError):
        return Any
    return type(None) if hint is None else _without_continuations(hint)


def _without_continuations(hint: Any) -> Any:
    if hint is ContinueWith:
        return Any
    if get_origin(hint) is ContinueWith:
        return _without_continuations(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(_without_continuations(each) for each in get_args(hint))]  # noqa: UP007 - made at run time
    return hint


def typed_blocker(output_type: Any, output: Any, slot: int, chain_id: int) -> Any:
    """The output of a chain that a job waited for, as this type. Raises BadInput with the slot and the chain."""
    try:
        return msgspec.convert(output, output_type, strict=True, str_keys=True)
    except (msgspec.ValidationError, TypeError) as error:
        name = getattr(output_type, "__name__", output_type)
        raise BadInput(f"the output of blocker {slot}, chain {chain_id}, does not fit {name}: {error}") from error
