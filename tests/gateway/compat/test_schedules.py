"""`PUT /api/schedules/:id`, "Update schedule", as task workers' clients send it: a part of the schedule."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from tests.gateway.compat.test_aliases import STORES, call, schedule
from tests.gateway.fakes.running import RunningGateway, running_service

FETCH_ALL = "/api/schedules/payload_fetch_all"


@pytest.fixture
def gateway(database_url: str) -> Generator[RunningGateway]:
    with running_service(database_url) as gateway:
        schedule(gateway, "payload_fetch_all", "payload_fetch", query=STORES, priority=3)
        schedule(
            gateway,
            "refresh_arizona",
            "product_refresh",
            args={"days": 2, "state_code": "AZ"},
            cron="0 3 * * *",
            every=None,
        )
        yield gateway


def shown(gateway: RunningGateway, name: str = "payload_fetch_all") -> dict[str, Any]:
    return call(gateway, "GET", f"/api/schedules/{name}")


def test_a_part_changes_what_it_names_and_nothing_else(gateway: RunningGateway) -> None:
    before = shown(gateway)
    off = call(gateway, "PUT", FETCH_ALL, b'{"enabled":false}')
    assert (off["enabled"], off["every"], off["query"], off["priority"]) == (False, 14_400, STORES, 3)
    by_id = call(gateway, "PUT", f"/api/schedules/{before['id']}", b'{"interval_hours":6,"priority":5}')
    assert (by_id["every"], by_id["priority"], by_id["enabled"]) == (21_600, 5, False)
    assert {name for name, value in shown(gateway).items() if value != before[name]} <= {
        *("enabled", "every", "priority", "revision", "planned_revision", "updated_at", "next_run_at", "anchor"),
        *("updated_by", "interval_hours"),
    }


def test_a_part_in_our_words_is_one_as_well(gateway: RunningGateway) -> None:
    ours = call(gateway, "PUT", FETCH_ALL, b'{"every":60,"missed":"skip","name":"payload_fetch_all"}')
    assert (ours["every"], ours["missed"], ours["query"]) == (60, "skip", STORES)
    assert call(gateway, "PUT", FETCH_ALL, b'{"missed":null}')["missed"] == "coalesce"


def test_an_interval_takes_the_place_of_a_cron_expression_and_a_role_is_kind_and_queue(gateway: RunningGateway) -> None:
    made = call(gateway, "PUT", "/api/schedules/refresh_arizona", b'{"interval_hours":0.5,"role":"product_resync"}')
    assert (made["every"], made["cron"], made["kind"], made["queue"]) == (
        1800,
        None,
        "product_resync",
        "product_resync",
    )


def test_a_state_stands_in_the_args_unless_a_query_gives_the_stores(gateway: RunningGateway) -> None:
    moved = call(gateway, "PUT", "/api/schedules/refresh_arizona", b'{"state_code":"CA"}')
    assert moved["args"] == {"days": 2, "state_code": "CA"}
    assert call(gateway, "PUT", "/api/schedules/refresh_arizona", b'{"state_code":null}')["args"] == {"days": 2}
    refused = call(gateway, "PUT", FETCH_ALL, b'{"state_code":"CA"}', 422)
    assert refused["errors"][0]["path"] == "$.state_code"
    assert call(gateway, "PUT", FETCH_ALL, b'{"state_code":null,"priority":9}')["priority"] == 9


def test_a_body_with_name_and_kind_is_the_whole_definition(gateway: RunningGateway) -> None:
    whole = call(gateway, "PUT", FETCH_ALL, b'{"name":"payload_fetch_all","kind":"payload_fetch","every":60}')
    assert (whole["query"], whole["priority"], whole["queue"]) == (None, 0, "default")
    call(gateway, "PUT", "/api/schedules/made", b'{"name":"made","kind":"k","every":60}')
    mixed = b'{"name":"made","kind":"k","interval_hours":1}'
    assert "interval_hours" in call(gateway, "PUT", "/api/schedules/made", mixed, 422)["detail"]
    both = b'{"name":"made","kind":"k"}'
    assert "one of every, cron, at" in call(gateway, "PUT", "/api/schedules/made", both, 422)["detail"]


def test_a_part_that_means_two_things_or_nothing_is_refused_and_names_the_field(gateway: RunningGateway) -> None:
    cases: list[tuple[bytes, str]] = [
        (b'{"role":"r","kind":"k"}', "$.kind"),
        (b'{"interval_hours":1,"every":60}', "$.every"),
        (b'{"interval_hours":0}', "$.interval_hours"),
        (b'{"name":"other","enabled":true}', "$.name"),
        (b'{"interval_minutes":5}', "$.interval_minutes"),
    ]
    for body, where in cases:
        before = shown(gateway)
        assert call(gateway, "PUT", FETCH_ALL, body, 422)["errors"][0]["path"] == where
        assert shown(gateway) == before


def test_a_part_of_no_schedule_makes_none_and_an_empty_one_changes_nothing(gateway: RunningGateway) -> None:
    refused = call(gateway, "PUT", "/api/schedules/nosuch", b'{"enabled":false}', 404)
    assert refused["code"] == "unknown_schedule"
    assert "give name and kind to make it" in refused["detail"]
    assert "nothing to change" in call(gateway, "PUT", FETCH_ALL, b"{}", 422)["detail"]


def test_a_part_heeds_the_revision_that_its_sender_has_seen(gateway: RunningGateway) -> None:
    call(gateway, "PUT", f"{FETCH_ALL}?revision=1", b'{"enabled":false}')
    assert call(gateway, "PUT", f"{FETCH_ALL}?revision=1", b'{"enabled":true}', 409)["code"] == "wrong_state"


THEIR_COLUMNS = ("role", "interval_hours", "state_code", "last_task_count")


def test_a_schedule_is_made_in_their_words(gateway: RunningGateway) -> None:
    sent = b'{"name":"discovery","role":"store_discovery","interval_hours":24,"priority":5,"state_code":"AZ","enabled":true}'
    made = call(gateway, "POST", "/api/schedules", sent, 201)
    assert [made[name] for name in THEIR_COLUMNS] == ["store_discovery", 24, "AZ", None]
    assert (made["kind"], made["queue"], made["every"], made["max_attempts"]) == (
        "store_discovery",
        "store_discovery",
        86_400,
        4,
    )
    assert (made["args"], made["priority"], made["enabled"]) == ({"state_code": "AZ"}, 5, True)
    ours = call(gateway, "POST", "/api/schedules", b'{"name":"ours","kind":"k","cron":"0 3 * * *"}', 201)
    assert [ours[name] for name in THEIR_COLUMNS] == ["k", None, None, None]
    assert (ours["queue"], ours["max_attempts"]) == ("default", None)
    cases: list[tuple[bytes, str]] = [
        (b'{"name":"n","role":"r","kind":"k","every":60}', "$.kind"),
        (b'{"name":"n","role":"r","interval_hours":1,"every":60}', "$.every"),
        (b'{"name":"n","role":"r","interval_hours":1,"state_code":"AZ","args":{}}', "$.args"),
        (b'{"name":"n","interval_hours":1}', "$.kind"),
        (b'{"role":"r","interval_hours":1}', "$.name"),
    ]
    for body, where in cases:
        assert call(gateway, "POST", "/api/schedules", body, 422)["errors"][0]["path"] == where


def test_answers_have_the_columns_of_task_schedules(gateway: RunningGateway) -> None:
    call(gateway, "POST", "/api/schedules/refresh_arizona/trigger")
    listed = call(
        gateway, "GET", "/api/schedules?limit=1&cursor=" + call(gateway, "GET", "/api/schedules?limit=1")["next"]
    )
    assert [listed["items"][0][name] for name in ("name", *THEIR_COLUMNS)] == [
        "refresh_arizona",
        "product_refresh",
        None,
        "AZ",
        1,
    ]
    assert [shown(gateway)[name] for name in THEIR_COLUMNS] == ["payload_fetch", 4, None, None]
    assert call(gateway, "PUT", FETCH_ALL, b'{"interval_hours":6}')["interval_hours"] == 6
