"""A client that has no chains at all."""

from __future__ import annotations

import builtins
from typing import Any, NoReturn

from leasehold.errors import UnknownJob
from leasehold.records.jobs import ChainRecord, JobRecord


class FakeChains:
    """`leasehold.Client.chains`. `asked` are the chains that somebody wanted."""

    def __init__(self) -> None:
        self.asked: builtins.list[int] = []

    async def get(self, chain_id: int) -> ChainRecord:
        return self._unknown(chain_id)

    async def list(
        self, *, state: str | None, kind: str | None, queue: str | None, before_id: int | None, page_size: int
    ) -> list[ChainRecord]:
        return []

    async def jobs(self, chain_id: int, *, after_position: int, page_size: int) -> builtins.list[JobRecord]:
        return self._unknown(chain_id)

    async def complete(self, chain_id: int, output: Any, *, continue_with: Any) -> builtins.list[int]:
        return self._unknown(chain_id)

    async def cancel(self, chain_id: int, reason: str | None) -> str:
        return self._unknown(chain_id)

    async def delete(self, chain_id: int, *, cascade: bool) -> builtins.list[int]:
        return self._unknown(chain_id)

    async def wait(self, chain_id: int, *, timeout: float) -> ChainRecord:
        return self._unknown(chain_id)

    def _unknown(self, chain_id: int) -> NoReturn:
        self.asked.append(chain_id)
        raise UnknownJob(f"there is no chain {chain_id}")
