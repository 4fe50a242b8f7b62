"""Background jobs for Python on nothing but Postgres.

The names lie in `leasehold.public`, which is imported when the first of them is asked for: so the command line obeys Ctrl-C
before anything else is imported, and a program that wants one room of the house loads no other.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leasehold.public import *  # noqa: F403
    from leasehold.public import __all__ as __all__
else:

    def __getattr__(name: str) -> object:
        is_special = name.startswith("__") and name != "__all__"
        if not is_special and find_spec(f"{__name__}.{name}"):
            return import_module(f"{__name__}.{name}")
        names = {} if is_special else _fetch_names()
        if name not in names:
            raise AttributeError(f"module {__name__} has no attribute {name}")
        return names[name]

    def _fetch_names() -> dict[str, object]:
        public = import_module("leasehold.public")
        names = {each: getattr(public, each) for each in ("__all__", *public.__all__)}
        globals().update(names)
        return names
