"""Background jobs for Python on nothing but Postgres.

The names lie in `leasehold.public`, which imports the module of each when it is first asked for: so the command line obeys
Ctrl-C before anything else is imported, and a program that wants one room of the house loads no other.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leasehold.public import *  # noqa: F403
    from leasehold.public import __all__ as __all__
else:

    def __getattr__(name: str) -> object:
        if not name.startswith("__") or name == "__all__":
            public = import_module("leasehold.public")
            if name == "__all__" or name in public.__all__:
                value = globals()[name] = getattr(public, name)
                return value
            if find_spec(f"{__name__}.{name}"):
                return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__} has no attribute {name}")
