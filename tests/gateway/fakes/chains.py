"""A client that has no chains at all."""

from __future__ import annotations

from typing import Any, NoReturn

from leasehold.errors import UnknownJob
from leasehold.records.chains import BlockerRecord, ChainRecord
from leasehold.records.jobs import JobRecord


class FakeChains:
    """The part of `leasehold.Client` about chains."""

    async def chain(self, chain_id: int) -> ChainRecord:
        return self._unknown(chain_id)

    async def chains(
        self, *, state: str | None, kind: str | None, queue: str | None, before_id: int | None, page_size: int
    ) -> list[ChainRecord]:
        return []

    async def chain_jobs(self, chain_id: int, *, after_position: int, page_size: int) -> list[JobRecord]:
        return self._unknown(chain_id)

    async def blockers(self, job_id: int) -> list[BlockerRecord]:
        return []

    async def complete_chain(self, chain_id: int, output: Any, *, continue_with: Any) -> list[int]:
        return self._unknown(chain_id)

    async def cancel_chain(self, chain_id: int, reason: str | None) -> str:
        return self._unknown(chain_id)

    async def delete_chain(self, chain_id: int, *, cascade: bool) -> list[int]:
        return self._unknown(chain_id)

    async def end_of(self, chain_id: int, *, timeout: float) -> ChainRecord:
        return self._unknown(chain_id)

    def _unknown(self, chain_id: int) -> NoReturn:
        raise UnknownJob(f"there is no chain {chain_id}")
