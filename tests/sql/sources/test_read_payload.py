from __future__ import annotations

from leasehold.database import Database


async def test_bytes_become_args(database: Database) -> None:
    cases: list[tuple[bytes | None, str | None]] = [
        (None, None),
        (b'{"a": null}', '{"a": null}'),
        (b"[1, 2]", '{"payload": [1, 2]}'),
        (b"plain {text", '{"payload": "plain {text"}'),
        (b"\xff\x00", '{"payload_base64": "/wA="}'),
    ]
    for payload, args in cases:
        assert await database.call_value("read_payload", payload) == args
