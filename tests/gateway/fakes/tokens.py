"""Tokens in memory, for tests of who may call."""

from __future__ import annotations

from leasehold.errors import DatabaseUnavailable
from leasehold.gateway.access.identities import Identity


class FakeTokens:
    """Stands for `leasehold.gateway.access.token_cache.TokenCache`. `asked` are the tokens that it had to be asked about."""

    def __init__(self, tokens: dict[str, Identity] | None = None) -> None:
        self.tokens = tokens or {}
        self.asked: list[str] = []
        self.remembers = True
        self.is_away = False

    def recall(self, token: str) -> Identity | None:
        return self.last_known(token) if self.remembers else None

    def last_known(self, token: str) -> Identity | None:
        return self.tokens.get(token) if token in self.asked else None

    async def find(self, token: str, *, is_suspect: bool = False) -> Identity | None:
        if self.is_away:
            raise DatabaseUnavailable
        self.asked.append(token)
        return self.tokens.get(token)

    async def has_any(self) -> bool:
        return bool(self.tokens)
