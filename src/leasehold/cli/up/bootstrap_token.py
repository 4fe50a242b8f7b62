"""The token that `leasehold up` makes if other machines can reach the gateway and there is no token yet."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from leasehold.access.tokens import is_token, make_token
from leasehold.errors import SettingsError

FILE = "gateway.token"


class KeptToken(msgspec.Struct, frozen=True):
    """A token, where it is kept, and whether it was made just now."""

    secret: str
    path: Path
    is_new: bool


def has_token(folder: Path) -> bool:
    """Whether a token is kept in the data folder."""
    return (folder / FILE).exists()


def keep_token(folder: Path) -> KeptToken:
    """The token in the data folder; it is made if there is none. Only its owner may read it. Raises SettingsError."""
    path = folder / FILE
    try:
        # Never there for others to read, not even for a moment.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return KeptToken(_read(path), path, False)
    with os.fdopen(handle, "w") as file:
        secret = make_token()
        file.write(secret + "\n")
    return KeptToken(secret, path, True)


def _read(path: Path) -> str:
    if path.stat().st_mode & 0o077:
        raise SettingsError(
            f"others may read the token in {path}: chmod 600 {path}, or remove it to have a new one made"
        )
    secret = path.read_text().strip()
    if not is_token(secret):
        raise SettingsError(f"{path} holds no token: remove it to have a new one made")
    return secret
