"""Under which keys secrets commonly lie, and how those of one kind are named."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

HIDDEN_KEYS = (
    "*password*", "*passwd*", "*passphrase*", "*secret*", "*token", "*api_key*", "*apikey*", "*private_key*",
    "*credential*", "authorization", "cookie", "set-cookie",
)  # fmt: skip
"""Patterns: `*` is anything. `*token` finds `access_token` and `accessToken`, and leaves `token_count` alone."""

HiddenKeys = Annotated[
    tuple[Annotated[str, Meta(min_length=1)], ...],
    Meta(
        description="Keys of args, outputs and metadata whose values tokens without operate do not see; * is anything."
    ),
]

HiddenKeysByKind = Annotated[
    tuple[Annotated[str, Meta(pattern=r"^[^:]+:[^:]+$")], ...],
    Meta(
        description="Keys that are hidden besides in jobs of one kind, as charge:iban, comma separated; * is anything."
    ),
]
