"""The text of a call of a SQL function of ours, and its values as a driver takes them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

Style = Literal["numeric_dollar", "format", "pyformat", "named", "numeric", "qmark"]
"""How a driver writes a place for a value: `$1`, `%s`, `%(p1)s`, `:p1`, `:1`, `?`. The names are those of DB-API, and asyncpg's."""
STYLES: tuple[str, ...] = get_args(Style)

Parameters: TypeAlias = "tuple[Any, ...] | dict[str, Any]"

JSON_PLACES: dict[str, tuple[int, ...]] = {
    "enqueue_jobs": (1,),
    "enqueue_with_times": (1,),
    "complete_chain": (2, 3),
    "edit_job": (2, 7),
    "add_payload": (12,),
}
"""Which values of a function are JSON, for functions that are called on connections of callers. They may have told their driver to
encode JSON itself, and one that is encoded already must not be encoded again: so it goes as text."""

_PLACES: dict[Style, Callable[[int], str]] = {
    "numeric_dollar": "${}".format,
    "format": "%s".format,
    "pyformat": "%(p{})s".format,
    "named": ":p{}".format,
    "numeric": ":{}".format,
    "qmark": "?".format,
}


@lru_cache(maxsize=512)
def call_text(function: str, positional: int, named: tuple[str, ...] = (), style: Style | None = None) -> str:
    """The statement that calls `leasehold.<function>` with this number of positional values and these named ones.

    Args:
        style: of the caller's driver; None: a connection of ours, on which JSON needs no care.
    """
    if not all(name.isidentifier() for name in (function, *named)):
        raise ValueError(f"no SQL name: {function!r} {named!r}")
    place = _PLACES[style or "numeric_dollar"]
    as_text = () if style is None else JSON_PLACES.get(function, ())
    values = [
        f"cast(cast({place(n)} as text) as jsonb)" if n in as_text else place(n) for n in range(1, positional + 1)
    ]
    values += [f"{name} => {place(n)}" for n, name in enumerate(named, positional + 1)]
    return f"select * from leasehold.{function}({', '.join(values)})"


def parameters(values: Sequence[Any], style: Style) -> Parameters:
    """The values as they go with a text of this style: a dict where places have names, else a tuple."""
    if style in ("pyformat", "named"):
        return {f"p{n}": value for n, value in enumerate(values, 1)}
    return tuple(values)
