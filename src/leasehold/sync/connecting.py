"""Connections of psycopg, one by one, and why there is none.

libpq has a text for a connection that was not made, and no SQLSTATE. So where one fails, the way of the awaited client is tried
once: it raises the same error in the same words, and knows whether waiting helps.
"""

# psycopg is an extra, loaded when the first connection is needed: nothing of it is known to the type checker here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from importlib import import_module
from threading import get_ident
from typing import Any
from urllib.parse import urlencode

from leasehold.errors import BadInput, DatabaseUnavailable, LeaseholdError, NoAnswer, WrongAddress

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""For the second try, which is for the reason alone."""

NOT_WAITED_FOR = frozenset({"28P01", "28000", "3D000"})
"""The server is there and says that the user, the password or the database is wrong: somebody has to do something first."""


class Opener:
    """Makes the connections of one pool, as its `connection_class`, in the threads of the pool.

    Attributes:
        reason: why the last one was not made; None: it was, or none was tried yet.

    Args:
        give_up: called where no waiting helps. It ends the pool, and so the waits for its connections.
    """

    def __init__(self, give_up: Callable[[], object]) -> None:
        self.reason: LeaseholdError | None = None
        self._give_up = give_up
        self._failure = ""
        self._under_way: set[int] = set()  # of threads

    def connect(self, address: str, **options: Any) -> Any:
        """One more connection. Raises as `connect`."""
        self._under_way.add(get_ident())
        try:
            made = needed("psycopg").Connection.connect(address, **options)
        except Exception as error:
            reason = self.reason  # another thread of the pool may connect meanwhile, and forget it
            if reason is None or str(error) != self._failure:
                reason = reason_of(error, address)
            self.reason, self._failure = reason, str(error)
            if not may_heal(reason):
                self._give_up()
            raise copy(reason) from error  # the pool logs it, and libpq's words may show the password
        finally:
            self._under_way.discard(get_ident())
        self.reason = None
        return made

    def why(self, error: LeaseholdError) -> LeaseholdError:
        """What to raise for the error of who has waited for a connection of the pool in vain."""
        if (reason := self.reason) is not None:
            return copy(reason)
        return NoAnswer("the database did not answer in time") if self._under_way else error


def connect(address: str, **options: Any) -> Any:
    """A connection of psycopg. Raises what the awaited client raises where there is none, and BadInput without the extra."""
    psycopg = needed("psycopg")
    try:
        return psycopg.connect(address, **options)
    except Exception as error:
        raise reason_of(error, address) from error


def may_heal(reason: LeaseholdError) -> bool:
    """Whether a connection may come about while one waits."""
    return isinstance(reason, DatabaseUnavailable) and getattr(reason.__cause__, "sqlstate", None) not in NOT_WAITED_FOR


def reason_of(error: Exception, address: str) -> LeaseholdError:
    """Why psycopg made no connection, as the awaited client says it."""
    reason: LeaseholdError | None = None
    with ThreadPoolExecutor(1, "leasehold reason") as apart:  # there may be an event loop in this thread
        try:
            apart.submit(lambda: asyncio.run(_try(_as_url(address)))).result()
        except LeaseholdError as raised:
            reason = raised
        except Exception:
            log.debug("no reason was found why there is no connection", exc_info=True)
    is_misread = isinstance(error, needed("psycopg").ProgrammingError)
    if reason is not None and not (is_misread and may_heal(reason)):
        return reason
    if is_misread:
        return WrongAddress(f"the address of the database is wrong: libpq cannot read it{_without_secrets(error)}")
    return DatabaseUnavailable(f"the database cannot be reached: {error}")


async def _try(address: str) -> None:
    from leasehold.database.connector import Connector, close_connection, translated  # noqa: PLC0415  only for a reason

    with translated():
        async with asyncio.timeout(LOOK_SECONDS):
            await close_connection(await Connector(address, LOOK_SECONDS).connect("leasehold"))


def _as_url(address: str) -> str:
    """The address as the awaited client reads it: libpq takes words with `=` between them as well."""
    psycopg = needed("psycopg")
    if not address or address.startswith(("postgresql:", "postgres:")):
        return address
    try:
        return f"postgresql:///?{urlencode(import_module('psycopg.conninfo').conninfo_to_dict(address))}"
    except psycopg.ProgrammingError:
        return address


def _without_secrets(error: Exception) -> str:
    """What libpq says, unless it may show a part of the password."""
    text = str(error).strip()
    return "" if {"@", "%"} & set(text) else f": {text}"


def needed(name: str) -> Any:
    """The module of the extra. Raises BadInput, which says what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        raise BadInput(
            f"a synchronous client on connections of its own needs {name}: pip install 'leasehold[psycopg]'"
        ) from error
