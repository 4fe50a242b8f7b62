"""What an access token looks like: `lh_`, 43 characters of chance, 6 of checksum.

The 43 characters are 256 random bits, so nobody guesses one and a plain SHA-256 of it may be stored: salt and a slow hash
protect passwords, which people choose. The head lets secret scanners find one (`lh_[0-9A-Za-z]{49}`), the checksum lets
them and the gateway tell it from noise without asking anybody.
"""

from __future__ import annotations

import hashlib
import secrets
import zlib
from datetime import datetime
from typing import Any, Final, Literal

import msgspec

HEAD: Final = "lh_"
SESSION_HEAD: Final = "ls_"
SETTINGS_SESSION_HEAD: Final = "lt_"
SECRET_LENGTH: Final = 43
CHECKSUM_LENGTH: Final = 6
LENGTH: Final = len(HEAD) + SECRET_LENGTH + CHECKSUM_LENGTH
SHOWN: Final = 9
ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

TokenState = Literal["active", "expired", "revoked"]


def make_token() -> str:
    """A new token, from the system's source of chance."""
    body = HEAD + _base62(secrets.randbits(256), SECRET_LENGTH)
    return body + _checksum(body)


def is_token(text: str) -> bool:
    """Whether `text` could be a token of ours; says nothing about whether it is a good one."""
    return len(text) == LENGTH and text.startswith(HEAD) and _is_whole(text)


def make_session(*, of_settings: bool = False) -> str:
    """The secret of a new session of a browser: as a token, with another head. `of_settings`: it showed the token of the
    settings."""
    body = (SETTINGS_SESSION_HEAD if of_settings else SESSION_HEAD) + _base62(secrets.randbits(256), SECRET_LENGTH)
    return body + _checksum(body)


def is_session(text: str, *, of_settings: bool | None = None) -> bool:
    """Whether `text` could be the secret of a session; `of_settings`: of this sort."""
    heads = {True: (SETTINGS_SESSION_HEAD,), False: (SESSION_HEAD,), None: (SESSION_HEAD, SETTINGS_SESSION_HEAD)}
    return len(text) == LENGTH and any(text.startswith(head) for head in heads[of_settings]) and _is_whole(text)


def hash_token(token: str) -> bytes:
    """What the database keeps of it: 32 bytes."""
    return hashlib.sha256(token.encode()).digest()


def prefix_of(token: str) -> str:
    """How it begins, so that people recognise it; the rest stays 220 bits of chance."""
    return token[:SHOWN]


def _is_whole(text: str) -> bool:
    return text.isascii() and text[-CHECKSUM_LENGTH:] == _checksum(text[:-CHECKSUM_LENGTH])


def _base62(number: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), CHECKSUM_LENGTH)


class NewToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token just made. `secret` is the token itself, and this is the only place that has it."""

    token_id: int
    name: str
    secret: str

    def __repr__(self) -> str:
        return f"NewToken(token_id={self.token_id}, name={self.name!r}, secret='***')"


class TokenRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A token as others may see it.

    Attributes:
        prefix: how it begins.
        last_used_at: written at most once a minute.
    """

    token_id: int
    name: str
    prefix: str
    scopes: list[str]
    state: TokenState
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was done.

    Attributes:
        actor: the name of the token, or of the database user where no gateway was between.
        action: METHOD /path as the route table has it, or the name of a function.
        status: the HTTP status of the answer; None where there was none, or not yet.
    """

    id: int
    at: datetime
    actor: str
    token_id: int | None
    action: str
    detail: Any
    address: str | None
    request_id: str | None
    status: int | None
