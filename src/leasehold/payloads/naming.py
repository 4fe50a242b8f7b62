"""Where a payload lies in its store: year/month/day/store_{key}_{time}.json.gz."""

from __future__ import annotations

import re
from datetime import UTC, datetime

MOST_OF_KEY = 100
EXTENSIONS = {"application/json": ".json", "application/x-ndjson": ".ndjson", "text/plain": ".txt", "text/csv": ".csv"}


def location_of(payload_id: int, created_at: datetime, key: str | None, media_type: str, codec: str) -> str:
    """The path of a payload. No two payloads have the same one: the number of the payload belongs to its time.

    Args:
        payload_id, created_at: as the database gave them.
        key: what it is about; without one the file is called `payload_…`. What a file name cannot have becomes `-`.
        media_type, codec: they decide the extension.
    """
    at = created_at.astimezone(UTC)
    about = "payload" if key is None else f"store_{_harmless(key)}"
    ending = EXTENSIONS.get(media_type, ".bin") + (".gz" if codec == "gzip" else "")
    return f"{at:%Y/%m/%d}/{about}_{at:%Y%m%dT%H%M%SZ}-{payload_id}{ending}"


def _harmless(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9._=+@-]", "-", key)[:MOST_OF_KEY]
