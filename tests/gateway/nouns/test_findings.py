"""`/api/findings…` with a real database behind it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from leasehold.payloads.auditing import PAYLOAD_FINDINGS
from leasehold.records.measures import MEANINGS
from tests.conftest import Psql
from tests.gateway.fakes.faulty import make_faults
from tests.gateway.fakes.running import RunningGateway, running_service
from tests.support.saved import save

FUNCTIONS = Path(__file__).parents[3] / "sql" / "functions" / "upkeep"


def test_every_finding_of_the_database_has_a_meaning() -> None:
    found = set(re.findall(r"^select '(\w+)'", (FUNCTIONS / "find_faults.sql").read_text(), re.MULTILINE))
    found |= set(
        re.findall(
            r"then '(blocked_by_nothing)' else '(blocked_for_ever)'", (FUNCTIONS / "find_faults.sql").read_text()
        )[0]
    )
    of_the_store = PAYLOAD_FINDINGS | {"store_unavailable", "audit_unfinished"}
    assert set(MEANINGS) == found | of_the_store
    repaired = set(
        re.findall(r"when '(\w+)' then (?:v_job|exists|v_job\.id)", (FUNCTIONS / "repair_fault.sql").read_text())
    )
    assert {name for name, meaning in MEANINGS.items() if meaning.is_repairable} == repaired | PAYLOAD_FINDINGS


def test_findings_are_told_with_what_they_mean(gateway: RunningGateway, database_url: str, psql: Psql) -> None:
    assert gateway.call("GET", "/api/findings").body == {"total": 0, "items": [], "is_left_out": False}
    overdue, _ = make_faults(psql, database_url, gateway)
    body = gateway.call("GET", "/api/findings").body
    found = {each["finding"]: each for each in body["items"]}
    assert (body["total"], set(found)) == (2, {"overdue", "unserved"})
    assert (found["overdue"]["job_id"], found["overdue"]["is_repairable"]) == (overdue, True)
    assert found["unserved"]["remedy"] == "Start a worker that has them, or cancel the jobs."
    assert gateway.call("GET", "/api/findings?grace=86400").body["total"] == 0


def test_a_repair_is_tried_first(gateway: RunningGateway, database_url: str, psql: Psql) -> None:
    overdue, _ = make_faults(psql, database_url, gateway)
    trial = gateway.call("POST", "/api/findings/repair", {}).body
    assert (trial["dry_run"], trial["changed"], trial["left"]) == (True, 1, 1)
    assert gateway.call("GET", f"/api/jobs/{overdue}").body["state"] == "scheduled"
    done = gateway.call("POST", "/api/findings/repair", {"findings": ["overdue"], "dry_run": False}).body
    assert (done["changed"], done["left"], [each["is_repaired"] for each in done["items"]]) == (1, 0, [True])
    assert gateway.call("GET", f"/api/jobs/{overdue}").body["state"] == "pending"
    assert {each["finding"] for each in gateway.call("GET", "/api/findings").body["items"]} == {"unserved"}
    none = gateway.call("POST", "/api/findings/repair", {"job_ids": [overdue], "dry_run": False}).body
    assert (none["changed"], none["left"], none["items"]) == (0, 0, [])


def test_orphans_of_the_payload_store_are_found_on_either_side_and_repaired(database_url: str, tmp_path: Path) -> None:
    lost, kept = save(database_url, tmp_path, [1], [2])
    (tmp_path / lost.location).unlink()
    orphan = tmp_path / "2020" / "01" / "02" / "store_7_x.json.gz"
    orphan.parent.mkdir(parents=True)
    orphan.write_bytes(b"nobody's")
    os.utime(orphan, (0, 0))
    with running_service(database_url, payloads_store=str(tmp_path)) as gateway:
        found = {each["finding"]: each for each in gateway.call("GET", "/api/findings").body["items"]}
        assert found["payload_without_content"]["subject"] == f"payload {lost.id}"
        assert found["file_of_nobody"]["subject"] == "file 2020/01/02/store_7_x.json.gz"
        assert found["file_of_nobody"]["remedy"] == "Delete the file."
        only = {"findings": ["file_of_nobody"], "dry_run": False}
        assert gateway.call("POST", "/api/findings/repair", only).body["changed"] == 1
        assert not orphan.exists()
        assert gateway.call("POST", "/api/findings/repair", {"dry_run": False}).body["changed"] == 1
        assert gateway.call("GET", "/api/findings").body["total"] == 0
        assert [each["id"] for each in gateway.call("GET", "/api/payloads").body["items"]] == [kept.id]


def test_a_store_that_is_gone_is_a_finding_and_hides_no_other(database_url: str, tmp_path: Path, psql: Psql) -> None:
    save(database_url, tmp_path / "store", [1])
    with running_service(database_url, payloads_store=str(tmp_path / "store")) as gateway:
        make_faults(psql, database_url, gateway)
        (tmp_path / "store").rename(tmp_path / "elsewhere")
        found = {each["finding"]: each for each in gateway.call("GET", "/api/findings").body["items"]}
        assert set(found) == {"overdue", "unserved", "store_unavailable"}


def test_an_audit_of_many_jobs_is_left_out_where_only_a_quick_one_is_wanted(
    fresh_database_url: str, psql: Psql
) -> None:
    with running_service(fresh_database_url) as gateway:
        make_faults(psql, fresh_database_url, gateway)
        quick = gateway.call("GET", "/api/findings?if_small=true").body
        assert (quick["total"], quick["is_left_out"]) == (2, False)
    psql(
        fresh_database_url,
        "do $$ begin execute format('alter database %I set leasehold.small_table = 1', current_database()); end $$",
    )
    with running_service(fresh_database_url) as gateway:
        quick = gateway.call("GET", "/api/findings?if_small=true").body
        assert (quick["total"], quick["is_left_out"]) == (0, True)
        assert gateway.call("GET", "/api/findings").body["total"] == 2
