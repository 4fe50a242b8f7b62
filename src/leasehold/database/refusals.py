"""Why no connection was made: whether it is wrong for ever or may come right by itself."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import asyncpg

from leasehold.database.address import ReadAddress
from leasehold.errors import DatabaseUnavailable, WrongAddress, error_of_state

OF_PARAMETERS = frozenset({"42704", "22023", "42601", "55P02", "0A000"})
"""What Postgres says to a parameter of the address that it does not know, does not take, or whose value it refuses."""

SSL_REQUEST = b"\x00\x00\x00\x08\x04\xd2\x16\x2f"
LOOK_SECONDS = 2.0


def refusal_of(error: asyncpg.PostgresError) -> WrongAddress | DatabaseUnavailable:
    """What to tell of a server that refuses a connection. It may take the next one, unless a parameter is the reason.

    PgBouncer has one SQLSTATE for all its errors. Poolers of providers say XX000 where they have no connection left.
    """
    state, text = str(getattr(error, "sqlstate", None) or "XX000"), str(error)
    if state in OF_PARAMETERS or (state == "08P01" and "startup parameter" in text):
        return WrongAddress(f"the address of the database has a parameter that is refused: {text} [SQLSTATE {state}]")
    refusal = error_of_state(state, text)
    return refusal if isinstance(refusal, DatabaseUnavailable) else DatabaseUnavailable(str(refusal))


async def explained(failure: Exception, address: ReadAddress) -> Exception:
    """What to raise for it: where something answers at every host that is no Postgres, that is said.

    Without encryption such an answer may look like the beginning of a long message of Postgres, of which the rest never comes.
    """
    is_odd = isinstance(failure, (ConnectionError, TimeoutError)) and failure.errno is None
    if is_odd and address.hosts:
        for host, port in address.hosts:
            if await _may_be_postgres(host, port):
                return failure
        return WrongAddress(
            f"what answers at {' and '.join(f'{host}:{port}' for host, port in address.hosts)} is no Postgres"
        )
    return failure


async def _may_be_postgres(host: str, port: int) -> bool:
    """Whether it answers as Postgres does when it is asked, as each connection begins, whether it can encrypt."""
    with suppress(OSError):  # and TimeoutError: who says nothing now may say more later
        async with asyncio.timeout(LOOK_SECONDS):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(SSL_REQUEST)
                answer = await reader.read(64)
            finally:
                writer.close()
        return answer in {b"", b"S", b"N"} or answer.startswith(b"E")
    return True
