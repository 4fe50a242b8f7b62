"""What schemathesis does differently for us."""

from __future__ import annotations

from typing import Any, cast

import schemathesis


@schemathesis.hook  # pyright: ignore[reportUnknownMemberType]
def map_body(context: Any, body: Any) -> Any:
    """Integers without a fraction: to JSON Schema 5.0 is one, to us (and to every typed decoder) it is not."""
    return _whole(body)


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(each) for name, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_whole(each) for each in cast("list[Any]", value)]
    return value
