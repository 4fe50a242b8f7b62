"""The pool of a client, lent to a worker inside the same program.

What a worker asks for itself (claims, outcomes, heartbeats, progress) takes one short statement each, and goes over the pool of
the client. What lasts lies on connections of its own: the one that listens, the one that renews leases, and those of the
transactions that handlers open. So neither waits for the other for long, and a client that is closed takes nothing away.
"""

from __future__ import annotations

import msgspec

from leasehold.actors.epochs import EpochWatch
from leasehold.concurrency.trio_apart import across
from leasehold.database import Caller, Database, Row
from leasehold.errors import BadInput, ClientClosed, DatabaseUnavailable, EpochOver
from leasehold.payloads.options import PayloadOptions


class Loan(msgspec.Struct, frozen=True, eq=False):
    """What a client lends. Use `borrow` to make one.

    Attributes:
        lender: runs the statements: over here, or on the loop of a program under asyncio that the client lives on.
        payloads: where they lie.
    """

    lender: Database
    payloads: PayloadOptions


def borrow(lender: Caller, payloads: PayloadOptions) -> Loan:
    """The loan of a client. Raises BadInput where it cannot lend, ClientClosed where it is closed."""
    if not isinstance(lender, Database):
        raise BadInput(
            "this client has no pool that a worker could share: give the worker one of open_client(), or an address"
        )
    if lender.is_closed:
        raise ClientClosed
    if lender.pool_size < 2:
        raise BadInput(
            "the pool of this client has one connection, which a worker would take from it: open the client with a pool_size of "
            "2 or more, or give the worker an address"
        )
    return Loan(lender, payloads)


class Lent(Caller):
    """The pool of a client; a pool of the worker's own once the client is closed.

    Args:
        own: an open database.
        loan: of the client.
        epochs: nothing is asked while the process moves to another epoch: nobody greets the connections of the client.
    """

    def __init__(self, own: Database, loan: Loan, epochs: EpochWatch) -> None:
        self.fit = own.fit
        self._own = own
        self._lender = loan.lender
        self._epochs = epochs

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement on a connection of the client's pool."""
        lender = self._lender
        if lender.is_closed:
            return await self._own.fetch(sql, *args, timeout=timeout)
        if self._epochs.is_over:
            raise EpochOver
        try:
            if lender.border is None:
                return await across(lender.loop, lender.fetch_lent, timeout, sql, *args)
            if not lender.is_at_home:
                raise DatabaseUnavailable("the client belongs to another thread")
            return await lender.fetch_lent(timeout, sql, *args)
        except ClientClosed as error:
            raise DatabaseUnavailable("the client was closed under a statement") from error
