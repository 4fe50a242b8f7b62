"""Handlers by module and qualified name: how another process finds the handler to run."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from functools import reduce
from typing import Any

from leasehold.errors import InvalidArgs


def refuse_unimportable(kind: str, function: Callable[..., Any]) -> None:
    """Refuse a handler that another process cannot find or call, when it is registered.

    Raises:
        InvalidArgs: a lambda, a function inside a function, an async function, or an object without a name.
    """
    qualname = getattr(function, "__qualname__", None)
    if not isinstance(qualname, str) or not isinstance(getattr(function, "__module__", None), str):
        raise InvalidArgs(
            f"handler {kind}: {function!r} has no name to import it by; runs='process' needs a plain function"
        )
    if "<" in qualname:
        what = "a lambda" if qualname.endswith("<lambda>") else f"{qualname}, made inside a function,"
        raise InvalidArgs(
            f"handler {kind}: {what} cannot be imported by another process; put it at the top of its module"
        )
    if inspect.iscoroutinefunction(function):
        raise InvalidArgs(f"handler {kind}: {qualname} is async; runs='process' is for plain functions")


def check_importable(kind: str, function: Callable[..., Any]) -> None:
    """Refuse a handler whose module and name do not lead to it. Call it when all modules are loaded.

    Raises:
        InvalidArgs: there is nothing of this name, or something else.
    """
    place = f"{function.__module__}:{function.__qualname__}"
    try:
        found = find_object(function.__module__, function.__qualname__)
    except (ImportError, AttributeError) as error:
        raise InvalidArgs(f"handler {kind}: {place} cannot be imported, so no process can run it: {error}") from error
    if found is not function and getattr(found, "function", None) is not function:
        raise InvalidArgs(f"handler {kind}: {place} is {found!r} and not this handler, so no process can run it")


def find_object(module: str, qualname: str) -> Any:
    """The object of this name. Raises ImportError, AttributeError, or what importing the module raises."""
    return reduce(getattr, qualname.split("."), importlib.import_module(module))
