"""The limits of single fields that bodies and parameters share."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from leasehold.validation import LONGEST_TIME

# Postgres counts bytes where these count characters: it may refuse what passes here, never the other way round.
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Key = Annotated[str, Meta(min_length=1, max_length=500)]
Integer = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Delay = Annotated[float, Meta(ge=0, le=LONGEST_TIME)]
Seconds = Annotated[float, Meta(gt=0, le=LONGEST_TIME)]
LARGEST_BIGINT = 2**63 - 1
ChainId = Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]
