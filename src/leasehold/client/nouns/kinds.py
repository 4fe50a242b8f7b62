"""Kinds of jobs, as the catalogue in the database has them."""

from __future__ import annotations

import msgspec

from leasehold.app import App
from leasehold.app.registry import own_kinds
from leasehold.client.core import Part
from leasehold.database import Row
from leasehold.database.calls import decoded
from leasehold.errors import NotFound
from leasehold.jobs.catalogue import describe_kinds
from leasehold.records.queues import DeclaredKind, KindRecord


class Kinds(Part):
    """`client.kinds`: what enqueueing gives to jobs of a kind, from whatever language they come."""

    async def list(self) -> list[KindRecord]:
        """List the kinds that apps have declared, by name.

        Example:
            torn = [each.kind for each in await client.kinds.list() if each.conflicts]
        """
        return [_record(row) for row in await self._database.call("list_kinds")]

    async def get(self, kind: str) -> KindRecord:
        """Return one kind.

        Raises:
            NotFound: no app has declared it.
        """
        rows = await self._database.call("list_kinds", kind)
        if not rows:
            raise NotFound(
                f"no app has declared a kind {kind!r}; workers do when they start, and `leasehold kinds sync` does"
            )
        return _record(rows[0])

    async def sync(
        self, app: App, *, name: str = "", app_version: str | None = None, is_newest: bool = True
    ) -> list[DeclaredKind]:
        """Declare the kinds of an app, all of them in one transaction.

        Args:
            app: which; `echo` and `dummy`, which every worker has, are left out.
            name: of the app, such as `shop:app`.
            app_version: of its code; that of the app if not given.
            is_newest: have it win, also where another version was declared later. Workers say no.

        Raises:
            BadInput: a kind is refused.
        """
        kinds = msgspec.json.encode(describe_kinds(own_kinds(app))).decode()
        version = app.version if app_version is None else app_version
        return await self._records(DeclaredKind, "declare_kinds", kinds, name, version or "", is_newest)

    async def drop(self, kind: str) -> None:
        """Take a kind out of the catalogue that no app has any more. A worker that has it declares it anew when it starts.

        Raises:
            NotFound: no app has declared it.
            WrongState: a live worker serves it, or a job that has not ended or a schedule is of it.
        """
        [row] = await self._database.call("drop_kind", kind)
        if not row["drop_kind"]:
            raise NotFound(f"no app has declared a kind {kind!r}, so there is nothing to drop")


def _record(row: Row) -> KindRecord:
    return msgspec.convert(decoded(row), KindRecord)
