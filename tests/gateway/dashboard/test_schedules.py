"""The schedules: when they fire in plain words, what the clocks do, and making, changing, firing and removing them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from typing import Any, cast
from zoneinfo import ZoneInfo

from playwright.sync_api import Locator, Page, expect

from tests.conftest import Psql
from tests.gateway.dashboard.conftest import At, OpenPage, Serve, sign_in
from tests.gateway.dashboard.test_pages import HOSTILE
from tests.gateway.dashboard.test_signing_in import BEARER, SECRET, make_token
from tests.gateway.dashboard.visits import visit
from tests.gateway.fakes.running import RunningGateway

BERLIN = ZoneInfo("Europe/Berlin")

NIGHTLY = {"name": "nightly", "kind": "report", "queue": "reports", "cron": "30 2 * * *", "zone": "Europe/Berlin"}
WORDS = {
    "30 2 * * *": "at 02:30, every day",
    "0 9,17 * * mon-fri": "at 09:00 and 17:00, Monday to Friday",
    "*/15 9-17 * * 1-5": "every 15 minutes, from 09:00 to 17:59, Monday to Friday",
    "* * * * *": "every minute, every day",
    "*/7 * * * *": "every 7 minutes of the hour, every day",
    "5 * * * *": "every hour at 05 minutes past, every day",
    "0 */5 * * *": "at 00:00, 05:00, 10:00, 15:00 and 20:00, every day",
    "0 */2 * * *": "every 2 hours, every day",
    "0 0 1 1 *": "at 00:00, on day 1 of the month, in January",
    "0 12 L * *": "at 12:00, on the last day of the month",
    "0 8 * * 1#2": "at 08:00, on the second Monday of the month",
    "0 8 1,15 * fri": "at 08:00, on days 1 and 15 of the month, and Friday",
    "0 8 */2 * fri": "at 08:00, Friday, if that is days 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29 and 31 of the month",
    "0 0 * * 0": "at 00:00, Sunday",
    "0 0 * * 7": "at 00:00, Sunday",
    "0 0 * * sat,sun": "at 00:00, Saturday and Sunday",
    "0 0 * jun-aug *": "at 00:00, every day, in June to August",
    "15 30 2 * * *": "at 02:30:15, every day",
    "*/10 * * * * *": "every 10 seconds, every day",
    "@weekly": "at 00:00, Sunday",
    "0 0 LW * *": "0 0 LW * *",
    "61 * * * *": "61 * * * *",
    "nonsense": "nonsense",
}
IN_WORDS = """async (expressions) => {
  const main = document.querySelector("script[type=module]").src;
  const { cronText } = await import(main.replace("main.js", "pages/operations/schedules/words.js"));
  return Object.fromEntries(expressions.map((each) => [each, cronText(each)]));
}"""
CHANGES = """async (asked) => {
  const main = document.querySelector("script[type=module]").src;
  const { nextChange } = await import(main.replace("main.js", "pages/operations/schedules/zones.js"));
  return asked.map(([zone, from]) => {
    const found = nextChange(zone, Date.parse(from));
    return found && [new Date(found.at).toISOString(), found.minutes];
  });
}"""


def make(gateway: RunningGateway, **fields: Any) -> None:
    answer = gateway.call("POST", "/api/schedules", {**NIGHTLY, **fields})
    assert answer.status == 201, answer.body


def row(page: Page, name: str) -> Locator:
    return page.locator(f"tr[data-schedule={json.dumps(name)}]")


def stored(gateway: RunningGateway, name: str) -> dict[str, Any]:
    return gateway.call("GET", f"/api/schedules/{name}").body


def test_expressions_are_put_into_words_and_the_next_change_of_the_clocks_is_found(open_page: OpenPage, at: At) -> None:
    page = open_page(at("/schedules"))
    expect(page.get_by_text("There are no schedules yet.")).to_be_visible()
    assert page.evaluate(IN_WORDS, list(WORDS)) == WORDS
    asked = [
        ["Europe/Berlin", "2026-11-24T00:00:00Z"],
        ["America/New_York", "2026-06-01T00:00:00Z"],
        ["Australia/Lord_Howe", "2026-06-01T00:00:00Z"],
        ["Asia/Tokyo", "2026-06-01T00:00:00Z"],
        ["Nowhere/At_All", "2026-06-01T00:00:00Z"],
    ]
    assert page.evaluate(CHANGES, asked) == [
        ["2027-03-28T01:00:00.000Z", 60],
        ["2026-11-01T06:00:00.000Z", -60],
        ["2026-10-03T15:30:00.000Z", 30],
        None,
        None,
    ]


def test_schedules_are_listed_switched_and_fired(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    make(gateway)
    make(gateway, name="often", cron=None, every=90)
    page = open_page(at("/schedules"))
    expect(row(page, "nightly")).to_contain_text("at 02:30, every day")
    expect(row(page, "often")).to_contain_text("every 90 seconds")
    row(page, "nightly").get_by_role("button", name="Disable").click()
    expect(row(page, "nightly")).to_contain_text("disabled")
    expect(row(page, "nightly")).to_contain_text("by hand only")
    row(page, "nightly").get_by_role("button", name="Trigger").click()
    page.get_by_role("button", name="Fire it").click()
    expect(page.get_by_text("nightly has made 1 job(s).")).to_be_visible()
    expect(row(page, "nightly").get_by_role("img")).to_have_attribute(
        "aria-label", "nightly, its last 1 ticks: 1 fired, 0 skipped, 0 failed"
    )
    row(page, "nightly").get_by_role("button", name="Enable").click()
    expect(row(page, "nightly").get_by_role("button", name="Disable")).to_be_visible()
    assert stored(gateway, "nightly")["enabled"]


def test_a_schedule_is_made_with_a_preview(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    page = open_page(at("/schedules"), timezone_id="America/New_York")
    page.get_by_role("button", name="New schedule").click()
    page.get_by_label("Name").fill("weekly report")
    page.get_by_label("Kind").fill("report")
    page.get_by_label("Time zone").fill("Asia/Tokyo")
    page.get_by_label("Cron expression").fill("0 9 * * mon")
    preview = page.get_by_role("group", name="When").get_by_role("status")
    expect(preview).to_contain_text("at 09:00, Monday")
    expect(preview.get_by_role("row")).to_have_count(6)
    expect(preview.get_by_role("columnheader", name="For you (America/New_York)")).to_be_visible()
    expect(preview.get_by_role("row").nth(1)).to_contain_text(re.compile(r"Mon, .* 09:00.*\+09:00.*Sun .*(19|20):00"))
    page.get_by_label("Args").fill("{")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("alert")).to_have_text("The args are no JSON.")
    page.get_by_label("Args").fill('{"big": 9007199254740993}')
    page.get_by_role("button", name="Make it").click()
    expect(page).to_have_url(at("/schedules/weekly%20report"))
    expect(page.locator(".tree")).to_contain_text("9007199254740993")
    made = stored(gateway, "weekly%20report")
    assert (made["cron"], made["zone"], made["queue"]) == ("0 9 * * mon", "Asia/Tokyo", "default")


def test_a_schedule_is_changed_and_removed(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    make(gateway, args={"days": 1}, priority=3)
    page = open_page(at("/schedules/nightly"))
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Cron expression")).to_have_value("30 2 * * *")
    page.get_by_label("at an interval").click()
    page.get_by_role("spinbutton", name="Every").fill("6")
    page.get_by_label("Unit").select_option(label="hours")
    page.get_by_role("dialog").get_by_text("More").click()
    page.get_by_label("If a job of an earlier tick is still open").select_option("skip")
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("every 6 hours")).to_be_visible()
    changed = stored(gateway, "nightly")
    assert (changed["every"], changed["cron"], changed["overlap"]) == (21600, None, "skip")
    assert (changed["args"], changed["priority"], changed["zone"]) == ({"days": 1}, 3, "Europe/Berlin")
    expect(page.get_by_text("An interval ignores clock changes")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page).to_have_url(at("/schedules"))
    expect(page.get_by_text("There are no schedules yet.")).to_be_visible()


def test_the_ticks_around_summer_time_are_shown(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    make(gateway)
    hours = (datetime.now(UTC) + timedelta(hours=n) for n in count())
    before, after = next(
        pair
        for pair in pairwise(each.astimezone(BERLIN) for each in hours)
        if len({each.utcoffset() for each in pair}) == 2
    )
    is_forward = cast("timedelta", after.utcoffset()) > cast("timedelta", before.utcoffset())
    page = open_page(at("/schedules/nightly"), timezone_id="UTC")
    card = page.locator("section", has=page.get_by_role("heading", name="When the clocks change"))
    way = "forward" if is_forward else "back"
    expect(card).to_contain_text(
        re.compile(f"The clocks of Europe/Berlin go {way} by an hour on Sunday,? {after:%-d %B %Y}")
    )
    note = (
        "clocks +1 h before it; its time does not exist on that day"
        if is_forward
        else "the clocks show this time twice"
    )
    expect(card.get_by_role("row").filter(has_text=f"Sun, {after:%-d %b %Y}")).to_contain_text(note)


def test_a_schedule_gets_a_query_after_it_was_tried(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    page = open_page(at("/schedules"), refusals=True)
    page.get_by_role("button", name="New schedule").click()
    page.get_by_label("Name").fill("crawl")
    page.get_by_label("Kind").fill("crawl")
    page.get_by_label("Cron expression").fill("0 4 * * *")
    query = page.get_by_label("Query: a SELECT")
    tried = page.get_by_role("group", name="A job for each row").get_by_role("status")
    query.fill("select nothing")
    page.get_by_role("button", name="Try the query").click()
    expect(tried).to_contain_text("nothing")
    query.fill("select g as shop, 'shop-' || g as key from generate_series(1, 7) g")
    page.get_by_role("button", name="Try the query").click()
    expect(tried).to_contain_text("7 job(s) if it fired now; the first 5:")
    expect(tried.get_by_role("listitem").first).to_have_text('{"key":"shop-1","shop":1}')
    page.get_by_label("Rows at most").fill("100")
    page.get_by_role("button", name="Make it").click()
    expect(page).to_have_url(at("/schedules/crawl"))
    made = stored(gateway, "crawl")
    assert (made["query_rows"], made["query_timeout"]) == (100, 30)
    assert gateway.call("POST", "/api/schedules/crawl/trigger").body["job_count"] == 7
    page.get_by_role("button", name="Edit").click()
    expect(query).to_have_value(made["query"])
    query.fill("select 1 as shop")
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_text("select 1 as shop")).to_be_visible()
    page.get_by_role("button", name="Edit").click()
    query.fill("")
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_text("a job of kind")).to_be_visible()
    assert stored(gateway, "crawl")["query"] is None


def test_only_who_may_read_everything_writes_queries(serve: Serve, open_page: OpenPage) -> None:
    gateway = serve(gateway_token=SECRET)
    gateway.call("POST", "/api/schedules", {**NIGHTLY, "query": "select 1 as shop"}, BEARER)
    page = open_page(gateway.url("/schedules/nightly"))
    sign_in(page, make_token(gateway, "read", "operate"))
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Query: a SELECT")).to_have_count(0)
    page.get_by_label("Cron expression").fill("0 5 * * *")
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_text("at 05:00, every day")).to_be_visible()
    changed = gateway.call("GET", "/api/schedules/nightly", headers=BEARER).body
    assert (changed["cron"], changed["query"]) == ("0 5 * * *", "select 1 as shop")


def test_what_was_changed_by_hand_is_given_back_to_the_code(
    gateway: RunningGateway, open_page: OpenPage, at: At, database_url: str, psql: Psql
) -> None:
    psql(database_url, """select leasehold.declare_schedule('{"name": "s", "kind": "clean_up", "every": 60}')""")
    page = open_page(at("/schedules/s"))
    expect(page.get_by_role("button", name="Edit")).to_be_visible()
    expect(page.get_by_role("button", name="As in code")).to_have_count(0)
    gateway.call("PATCH", "/api/schedules/s", {"every": 120})
    expect(page.get_by_text("every 2 minutes")).to_be_visible()
    page.get_by_role("button", name="As in code").click()
    expect(page.get_by_text("It is as the code declares it.")).to_be_visible()
    expect(page.get_by_text("every minute")).to_be_visible()
    expect(page.get_by_role("button", name="As in code")).to_have_count(0)
    assert (stored(gateway, "s")["every"], stored(gateway, "s")["overridden"]) == (60, [])


def test_the_history_says_what_became_of_ticks(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    make(gateway)
    for _ in range(21):
        gateway.call("POST", "/api/schedules/nightly/trigger")
    page = open_page(at("/schedules/nightly"))
    expect(page.get_by_role("row", name="trigger, anonymous")).to_have_count(20)
    expect(page.get_by_role("link", name=re.compile("job [0-9]+")).first).to_be_visible()
    page.get_by_role("link", name="Older").click()
    expect(page.get_by_role("row", name="trigger, anonymous")).to_have_count(1)
    page.get_by_role("link", name="Newest").click()
    expect(page.get_by_role("row", name="trigger, anonymous")).to_have_count(20)


def test_hostile_names_of_schedules_are_only_text(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    names = [each.replace("/", "|") for each in HOSTILE]
    for name, text in zip(names, HOSTILE, strict=True):
        make(gateway, name=name, kind=text, queue=text, description=text, args={text: text})
    page = open_page(at("/schedules"))
    expect(page.locator("tr[data-schedule]")).to_have_count(len(names))
    for number in range(len(names)):
        link = page.locator("tr[data-schedule] td.name a").nth(number)
        name = link.inner_text()
        link.click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        assert name in names
        page.get_by_role("definition").filter(has_text="of kind").get_by_role("link").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE[names.index(name)])
        visit(page, at("/schedules"))
