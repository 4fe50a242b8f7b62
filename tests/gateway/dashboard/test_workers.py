"""The workers: pods with their workers around them, what is odd about each, and telling them what to do."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from leasehold.gateway.nouns import workers as workers_noun
from leasehold.gateway.routing.services import LONGEST_WAIT, preferred_wait
from tests.conftest import Psql
from tests.gateway.dashboard.conftest import At, OpenPage
from tests.gateway.dashboard.fleet import beat, incarnation_of, obey, register
from tests.gateway.dashboard.test_pages import HOSTILE, enqueue
from tests.gateway.dashboard.visits import visit
from tests.gateway.fakes.kubernetes import running_kubernetes
from tests.gateway.fakes.running import RunningGateway, running_service
from tests.gateway.nouns.test_replicas import SETTINGS

CLAIM = "select leasehold.claim_jobs('{incarnation}', '{worker}', null, null, 1, '60 s')"


@pytest.fixture(autouse=True)
def long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page waits five seconds for what a worker answers; a busy machine may take longer to let it answer."""

    def as_long_as_can_be(prefer: str | None) -> int | None:
        return None if preferred_wait(prefer) is None else LONGEST_WAIT

    monkeypatch.setattr(workers_noun, "preferred_wait", as_long_as_can_be)


def row(page: Page, worker_id: str) -> Locator:
    return page.locator(f"tr[data-worker='{incarnation_of(worker_id)}']")


def test_a_worker_is_shown_with_slots_resources_and_what_is_odd(
    gateway: RunningGateway, open_page: OpenPage, at: At, psql: Psql, database_url: str
) -> None:
    about: dict[str, Any] = {
        "queues": ["mail"],
        "kinds": ["send"],
        "slots": 4,
        "host": "pod-1",
        "pid": 7,
        "app_version": "1",
    }
    why = "memory 91 % of 2.0 GiB (limit 85 %)"
    register(gateway, "old", **about, memory=0.91, cpu=0.2, memory_limit=2**31, backoff=why, backoff_for=3600)
    register(gateway, "new", **{**about, "app_version": "2"}, memory=0.62, cpu=0.8)
    job_id = enqueue(gateway, "send", queue="mail")
    psql(database_url, CLAIM.format(incarnation=incarnation_of("old"), worker="old"))
    enqueue(gateway, "other", queue="mail")
    page = open_page(at("/workers"))
    old, new = row(page, "old"), row(page, "new")
    expect(old).to_contain_text("1/4")
    expect(page.get_by_text("Pods in Kubernetes")).to_have_count(0)  # this gateway is not in it
    expect(old).to_contain_text(f"back-off: {why}")
    expect(old).to_contain_text("outdated")
    expect(old).to_contain_text("no handler for other")
    expect(old.locator(".share")).to_have_text(["memory 91 %", "CPU 20 %"])
    levels = [
        page.locator(f"[data-worker='{incarnation_of(each)}'] .share").nth(number) for each in ("old", "new")
        for number in (0, 1)
    ]  # fmt: skip
    for level, shown in zip(["red", "green", "yellow", "amber"], levels, strict=True):
        expect(shown).to_have_attribute("data-level", level)
    expect(old.get_by_title("The oldest lease was given or renewed")).to_be_visible()
    expect(new).not_to_contain_text("outdated")
    old.get_by_role("link").first.click()
    expect(page.get_by_role("row").filter(has=page.get_by_role("link", name=str(job_id)))).to_contain_text("claimed")


def test_a_click_on_a_pod_or_a_worker_filters_the_list(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    for host, workers in {"pod-1": 3, "pod-2": 1}.items():
        for number in range(workers):
            register(gateway, f"{host}-w{number}", host=host, slots=2)
    page = open_page(at("/workers"))
    expect(page.locator("tr[data-worker]")).to_have_count(4)
    page.get_by_role("button", name="Pod pod-1: 3 worker(s)").click()
    expect(page.locator("tr[data-worker]")).to_have_count(3)
    expect(page).to_have_url(at("/workers?host=pod-1"))
    expect(page.get_by_role("heading", name="Workers of pod-1")).to_be_visible()
    page.reload()
    expect(page.locator("tr[data-worker]")).to_have_count(3)
    page.get_by_role("group", name="Pod pod-1").get_by_role("button", name=re.compile("^Worker ")).first.press("Enter")
    expect(page.locator("tr[data-worker]")).to_have_count(1)
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("tr[data-worker]")).to_have_count(4)
    page.get_by_label("Filter workers").fill("pod-2")
    expect(page.locator("tr[data-worker]")).to_have_count(1)
    expect(page.locator(".pod")).to_have_count(1)


def test_many_pods_are_drawn_small_and_the_list_grows_on_demand(
    gateway: RunningGateway, open_page: OpenPage, at: At, psql: Psql, database_url: str
) -> None:
    many = (
        "select leasehold.register_worker(gen_random_uuid(), format('p%s-w%s', p, w), 'pod-' || p, 1, '1', '{}', '{}', 3, true) "
        "from generate_series(1, 40) p, generate_series(1, 2) w"
    )
    psql(database_url, many)
    page = open_page(at("/workers"))
    expect(page.locator(".pods[data-many] .pod")).to_have_count(40)
    expect(page.locator("tr[data-worker]")).to_have_count(60)
    page.get_by_role("button", name="Show them all").click()
    expect(page.locator("tr[data-worker]")).to_have_count(80)


def test_workers_are_paused_resumed_scaled_and_decommissioned(
    gateway: RunningGateway, open_page: OpenPage, at: At
) -> None:
    register(gateway, "w-1", slots=2)
    page = open_page(at("/workers"))
    row(page, "w-1").get_by_role("button", name="Pause").click()
    assert obey(gateway, "w-1", state="paused", slots=2)["command"] == "pause"
    row(page, "w-1").get_by_role("button", name="Resume").click()
    assert obey(gateway, "w-1", slots=2)["command"] == "resume"
    row(page, "w-1").get_by_role("button", name="Scale").click()
    expect(page.get_by_label("Slots", exact=True)).to_have_value("2")
    page.get_by_label("Slots", exact=True).fill("7")
    page.get_by_role("button", name="Set it").click()
    scaled = obey(gateway, "w-1", slots=7)
    assert (scaled["command"], scaled["args"]) == ("set_concurrency", {"slots": 7})
    expect(row(page, "w-1")).to_contain_text("0/7")
    row(page, "w-1").get_by_role("button", name="Decommission").click()
    page.get_by_role("dialog").get_by_role("button", name="Decommission").click()
    assert obey(gateway, "w-1", state="draining", slots=7)["command"] == "decommission"
    expect(row(page, "w-1")).to_contain_text("draining")
    expect(row(page, "w-1").get_by_role("button")).to_have_count(0)


def test_a_pod_is_paused_as_a_whole(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    for worker_id in ("w-1", "w-2"):
        register(gateway, worker_id, host="pod-1")
    register(gateway, "w-3", host="pod-2")
    page = open_page(at("/workers?host=pod-1"))
    page.get_by_role("group", name="Do with 2 workers").get_by_role("button", name="Pause").click()
    for worker_id in ("w-1", "w-2"):
        assert obey(gateway, worker_id, host="pod-1", state="paused")["command"] == "pause"
    expect(page.get_by_text("2 workers: paused.")).to_be_visible()
    assert beat(gateway, "w-3", host="pod-2") == []


def test_a_worker_that_refuses_is_told_with_its_reason(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    register(gateway, "w-1")
    page = open_page(at(f"/workers/{incarnation_of('w-1')}"))
    page.get_by_role("button", name="Pause").click()
    commands: list[dict[str, Any]] = []
    while not commands:
        commands = beat(gateway, "w-1")
    beat(gateway, "w-1", acknowledged=[{"id": commands[0]["id"], "error": "it is draining"}])
    expect(page.get_by_role("status").get_by_text("w-1: it is draining")).to_be_visible()
    expect(page.get_by_role("row", name="pause")).to_contain_text("failed")


def test_the_stacks_of_what_runs_are_shown(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    register(gateway, "w-1")
    page = open_page(at("/workers/w-1"))
    page.get_by_role("button", name="Take the stacks").click()
    stack = {"job_id": 7, "kind": "send", "stack": "File <b>mail.py</b>, line 3"}
    assert obey(gateway, "w-1", {"stacks": [stack]})["command"] == "dump_stacks"
    expect(page.get_by_text("File <b>mail.py</b>, line 3")).to_be_visible()
    expect(page.get_by_role("link", name="Job 7")).to_be_visible()


def test_those_that_have_ended_are_shown_on_demand(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    register(gateway, "w-1")
    register(gateway, "w-2")
    beat(gateway, "w-2", state="stopped")
    page = open_page(at("/workers"))
    expect(page.locator("tr[data-worker]")).to_have_count(1)
    page.get_by_label("also those that have ended").click()
    expect(page.locator("tr[data-worker]")).to_have_count(2)
    expect(page).to_have_url(at("/workers?stopped=1"))


@pytest.fixture
def in_kubernetes(database_url: str, tmp_path: Path) -> Generator[RunningGateway]:
    with (
        running_kubernetes(tmp_path) as (_, pod),
        running_service(database_url, pod=pod, **SETTINGS) as gateway,
    ):
        yield gateway


def test_pods_of_kubernetes_are_one_more_or_one_less(in_kubernetes: RunningGateway, open_page: OpenPage) -> None:
    page = open_page(in_kubernetes.url("/workers"))
    pods = page.get_by_label("Pods in Kubernetes")
    expect(pods.get_by_role("spinbutton", name="Pods")).to_have_value("3")
    pods.get_by_role("button", name="One pod more").click()
    page.get_by_role("dialog", name="4 instead of 3 pod(s)?").get_by_role("button", name="Set it").click()
    expect(page.get_by_text("There are to be 4 pod(s).")).to_be_visible()
    expect(pods).to_contain_text("3 are there")
    pods.get_by_role("button", name="One pod less").click()
    page.get_by_role("button", name="Leave it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert in_kubernetes.call("GET", "/api/workers/k8s/replicas").body["desired"] == 4


def test_pods_of_kubernetes_are_set_to_a_number_within_the_bounds(
    in_kubernetes: RunningGateway, open_page: OpenPage
) -> None:
    page = open_page(in_kubernetes.url("/workers"))
    wanted = page.get_by_role("spinbutton", name="Pods")
    expect(wanted).to_have_value("3")
    wanted.fill("100000")
    wanted.press("Enter")
    assert wanted.evaluate("field => field.validity.rangeOverflow")
    expect(page.get_by_role("dialog")).to_have_count(0)
    wanted.fill("5")
    page.get_by_label("Pods in Kubernetes").get_by_role("button", name="Set").click()
    page.get_by_role("dialog", name="5 instead of 3 pod(s)?").get_by_role("button", name="Set it").click()
    expect(page.get_by_text("There are to be 5 pod(s).")).to_be_visible()
    expect(wanted).to_have_value("5")
    assert in_kubernetes.call("GET", "/api/workers/k8s/replicas").body["desired"] == 5


def test_the_jobs_that_a_worker_runs_stand_beside_its_slots(
    gateway: RunningGateway, open_page: OpenPage, at: At, psql: Psql, database_url: str
) -> None:
    register(gateway, "w-1", slots=8)
    ids = [gateway.call("POST", "/api/jobs", {"kind": "send"}).body["id"] for _ in range(5)]
    psql(database_url, CLAIM.format(incarnation=incarnation_of("w-1"), worker="w-1").replace(" 1, ", " 5, "))
    page = open_page(at("/workers"))
    held = row(page, "w-1").locator("td").nth(2)
    expect(held.get_by_role("link")).to_have_text([*(str(each) for each in ids[:3]), "+2"])
    held.get_by_role("link", name="+2").click()
    expect(page.get_by_role("cell", name=str(ids[4]), exact=True)).to_be_visible()
    page.go_back()
    held.get_by_role("link", name=str(ids[0]), exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("send")


def test_hostile_names_of_workers_are_only_text(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    for number, text in enumerate(HOSTILE):
        register(gateway, f"w-{number}", name=f"{number} {text}"[:200], host=text, queues=[text], kinds=[text], backoff=text,
                 backoff_for=3600, app_version=text)  # fmt: skip
    page = open_page(at("/workers"))
    expect(page.locator("tr[data-worker]")).to_have_count(len(HOSTILE))
    expect(page.locator(".pod")).to_have_count(len(HOSTILE))
    for number, text in enumerate(HOSTILE):
        visit(page, at(f"/workers/w-{number}"))
        expect(page.get_by_role("heading", level=1)).to_have_text(f"{number} {text}"[:200])
        page.get_by_role("definition").filter(has_text="process").get_by_role("link").click()
        expect(page.locator("tr[data-worker]")).to_have_count(1)
