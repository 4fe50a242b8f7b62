from __future__ import annotations

import pytest

from leasehold.database import Database


@pytest.mark.parametrize(
    ("payload", "args"),
    [
        (None, None),
        (b'{"a": null}', '{"a": null}'),
        (b"[1, 2]", '{"payload": [1, 2]}'),
        (b"plain {text", '{"payload": "plain {text"}'),
        (b"\xff\x00", '{"payload_base64": "/wA="}'),
    ],
)
async def test_bytes_become_args(database: Database, payload: bytes | None, args: str | None) -> None:
    assert await database.call_value("read_payload", payload) == args
