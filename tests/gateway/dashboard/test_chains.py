"""Chains: the list, the graph of one, cancelling and retrying the whole."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.conftest import Psql
from tests.gateway.dashboard.conftest import At, OpenPage
from tests.gateway.dashboard.hostile import HOSTILE
from tests.gateway.fakes.running import RunningGateway

LAYOUT = """async (nodes) => {
    const main = document.querySelector("script[type=module]").src;
    const { pictureOf } = await import(main.replace("main.js", "pages/chains/layout.js"));
    return pictureOf(nodes);
}"""


def start(gateway: RunningGateway, kind: str, **fields: Any) -> int:
    return gateway.done("POST", "/api/chains", {"kind": kind, **fields})["id"]


def fan_in(gateway: RunningGateway) -> tuple[list[int], int, int]:
    """Six parts, one of them completed and two cancelled, the whole, and what follows it."""
    parts = [start(gateway, "part") for _ in range(6)]
    whole = start(gateway, "whole", blockers=parts)
    after = start(gateway, "after", blockers=[whole])
    gateway.call("POST", f"/api/chains/{parts[0]}/complete", {"output": 1})
    for part in parts[1:3]:
        gateway.call("POST", f"/api/chains/{part}/cancel")
    return parts, whole, after


def boxes(page: Page) -> set[str]:
    return {str(each.text_content()) for each in page.locator(".graph a[data-chain] title").all()}


def test_chains_are_listed_by_state_and_kind(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    page = open_page(at("/chains"))
    expect(page.get_by_text("No chain is like that.")).to_be_visible()
    _, whole, _ = fan_in(gateway)
    rows = page.locator("tr[data-chain]")
    expect(rows).to_have_count(8)
    page.get_by_role("link", name="cancelled", exact=True).click()
    expect(rows).to_have_count(2)
    page.get_by_role("link", name="all", exact=True).click()
    page.get_by_label("Kind").fill("whole")
    page.get_by_role("button", name="Find").click()
    expect(rows).to_have_count(1)
    page.reload()
    rows.get_by_role("link", name=str(whole), exact=True).first.click()
    expect(page).to_have_url(at(f"/chains/{whole}"))


def test_the_graph_folds_what_is_alike_and_leads_on(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    parts, whole, after = fan_in(gateway)
    page = open_page(at(f"/chains/{whole}"))
    expect(page.locator(".graph a[data-chain]")).to_have_count(5)
    assert boxes(page) == {
        f"3 × part: open, the first is {parts[3]}",
        f"2 × part: cancelled, the first is {parts[1]}",
        f"part: completed, chain {parts[0]}",
        f"whole: open, chain {whole}, shown here",
        f"after: open, chain {after}",
    }
    expect(page.locator(".graph path")).to_have_count(4)
    expect(page.get_by_role("img", name="1 completed, 5 open, 2 cancelled")).to_be_visible()
    page.get_by_role("link", name=f"after: open, chain {after}").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"chain {after}")


def test_what_failed_is_retried_and_what_is_open_is_cancelled(
    gateway: RunningGateway, open_page: OpenPage, at: At
) -> None:
    parts, whole, _ = fan_in(gateway)
    page = open_page(at(f"/chains/{whole}"))
    page.get_by_role("button", name="Retry what failed").click()
    page.get_by_role("dialog").get_by_role("button", name="Retry 2").click()
    expect(page.get_by_text("2 job(s) made to run again.")).to_be_visible()
    expect(page.get_by_role("button", name="Retry what failed")).to_have_count(0)
    assert gateway.call("GET", f"/api/jobs/{parts[1]}").body["state"] == "pending"
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel it").click()
    expect(page.locator(".title .badge").first).to_have_text("cancelled")
    page.get_by_role("button", name="Cancel all open").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel 6").click()
    # `after` has ended, too, and nothing leads from a chain that has ended to those that waited for it.
    expect(page.get_by_role("img", name="1 completed, 6 cancelled")).to_be_visible()


def test_the_graph_comes_live(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    parts, whole, _ = fan_in(gateway)
    page = open_page(at(f"/chains/{whole}"))
    expect(page.get_by_role("img", name="1 completed, 5 open, 2 cancelled")).to_be_visible()
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    gateway.call("POST", f"/api/chains/{parts[3]}/complete", {})
    expect(page.get_by_role("img", name="2 completed, 4 open, 2 cancelled")).to_be_visible()


def test_all_jobs_of_a_long_chain_are_there_page_by_page(
    gateway: RunningGateway, open_page: OpenPage, at: At, database_url: str, psql: Psql
) -> None:
    chain = start(gateway, "step")
    psql(
        database_url,
        "insert into leasehold.finished_jobs (id, chain_id, chain_position, created_at, run_at, finished_at, priority, attempt,"
        f" spared_attempts, max_attempts, state, kind, queue, args, succeeded_by) select {chain} + n, {chain}, n, now(), now(),"
        f" now(), 0, 1, 0, 1, 'completed', 'step', 'default', '{{}}', {chain} + n + 1 from generate_series(1, 60) n",
    )
    page = open_page(at(f"/chains/{chain}"))
    places = page.locator("tbody tr td:first-child")
    expect(places.first).to_have_text("1")
    page.get_by_role("link", name="Next").click()
    expect(places.last).to_have_text("61")
    page.reload()
    page.get_by_role("link", name="First").click()
    expect(places.first).to_have_text("1")


def test_no_more_boxes_are_drawn_than_can_be_seen(open_page: OpenPage, at: At) -> None:
    page = open_page(at("/"))

    def node(chain_id: int, kind: str, *waits_for: int) -> dict[str, object]:
        return {"chain_id": chain_id, "kind": kind, "state": "open", "waits_for": waits_for}

    alike = [node(1, "whole", *range(2, 1002)), *(node(each, "part") for each in range(2, 1002))]
    folded = page.evaluate(LAYOUT, alike)
    assert (len(folded["boxes"]), len(folded["lines"]), folded["left"]) == (2, 1, 0)
    pairs = [node(1, "whole", *range(2, 1002, 2))]
    pairs += [each for first in range(2, 1002, 2) for each in (node(first, "part", first + 1), node(first + 1, "raw"))]
    uneven = page.evaluate(LAYOUT, pairs)
    assert (len(uneven["boxes"]), uneven["left"]) == (200, 801)
    different = [node(1, "whole", *range(2, 302)), *(node(each, f"kind {each}") for each in range(2, 302))]
    many = page.evaluate(LAYOUT, different)
    assert (len(many["boxes"]), many["left"]) == (200, 101)
    circle = page.evaluate(LAYOUT, [node(1, "a", 2), node(2, "b", 1)])
    assert (len(circle["boxes"]), len(circle["lines"])) == (2, 2)
    line = page.evaluate(LAYOUT, [node(each, "step", each + 1) for each in range(1, 5000)])
    assert (len(line["boxes"]), len({each["x"] for each in line["boxes"]})) == (200, 200)


def test_hostile_kinds_are_only_text(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    parts = [start(gateway, text) for text in HOSTILE]
    whole = start(gateway, HOSTILE[0], blockers=parts)
    page = open_page(at(f"/chains/{whole}"))
    expect(page.locator(".graph a[data-chain]")).to_have_count(len(HOSTILE) + 1)
    drawn = " ".join(boxes(page))
    assert [text for text in HOSTILE if text not in drawn] == []
