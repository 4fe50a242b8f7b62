from __future__ import annotations

from leasehold.database import Database


async def test_a_row_gets_its_status_once(database: Database) -> None:
    audit_id = await database.call_value("write_audit", "ops", None, "act")
    assert await database.call_value("close_audit", audit_id, 200) is True
    assert await database.call_value("close_audit", audit_id, 500) is False
    [row] = await database.fetch("select status from leasehold.audit_log")
    assert row["status"] == 200


async def test_an_unknown_row_is_nothing_to_close(database: Database) -> None:
    assert await database.call_value("close_audit", 99, 200) is False
