"""The doctor: what is out of order, what it means, and its repair after a trial."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.conftest import Psql
from tests.gateway.dashboard.axe import faults_of
from tests.gateway.dashboard.conftest import At, OpenPage, Serve, sign_in
from tests.gateway.dashboard.hostile import HOSTILE
from tests.gateway.dashboard.test_signing_in import BEARER, SECRET, make_token
from tests.gateway.fakes.faulty import UNSERVED, make_faults
from tests.gateway.fakes.running import RunningGateway, running_service


def test_findings_are_explained_and_repaired_after_a_trial(
    gateway: RunningGateway, open_page: OpenPage, at: At, database_url: str, psql: Psql
) -> None:
    page = open_page(at("/doctor"))
    expect(page.get_by_text("No job, chain, schedule or partition is out of order.")).to_be_visible()
    overdue, _ = make_faults(psql, database_url, gateway)
    page.get_by_role("button", name="Look again").click()
    expect(page.locator("[data-finding]")).to_have_count(2)
    expect(page.locator("[data-finding=unserved]")).to_contain_text("Start a worker that has them")
    expect(page.locator("[data-finding=unserved]").get_by_role("button")).to_have_count(0)
    page.get_by_role("button", name="Repair all that can be").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Repair 1 finding(s)?")
    expect(dialog).to_contain_text("1 are for you to decide and stay.")
    assert gateway.call("GET", f"/api/jobs/{overdue}").body["state"] == "scheduled"
    dialog.get_by_role("button", name="Repair 1").click()
    expect(page.get_by_text("1 finding(s) repaired, 1 are left.")).to_be_visible()
    expect(page.locator("[data-finding=overdue]")).to_have_count(0)
    assert gateway.call("GET", f"/api/jobs/{overdue}").body["state"] == "pending"


def test_only_admins_repair(serve: Serve, open_page: OpenPage, database_url: str, psql: Psql) -> None:
    gateway = serve(gateway_token=SECRET)
    make_faults(psql, database_url, gateway, BEARER)
    page = open_page(gateway.url("/doctor"))
    sign_in(page, make_token(gateway, "read", "operate"))
    expect(page.locator("[data-finding]")).to_have_count(2)
    expect(page.get_by_role("button", name="Repair")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, make_token(gateway, "read", "admin"))
    page.locator("[data-finding=overdue]").get_by_role("button", name="Repair").click()
    page.get_by_role("dialog").get_by_role("button", name="Repair 1").click()
    expect(page.locator("[data-finding=overdue]")).to_have_count(0)


def test_hostile_subjects_are_only_text(
    gateway: RunningGateway, open_page: OpenPage, at: At, database_url: str, psql: Psql
) -> None:
    for text in HOSTILE:
        psql(database_url, UNSERVED.format(id=gateway.call("POST", "/api/jobs", {"kind": text}).body["id"]))
    page = open_page(at("/doctor"))
    items = page.locator("[data-finding=unserved] li")
    expect(items).to_have_count(len(HOSTILE))
    shown = " ".join(items.all_inner_texts())
    assert [text for text in HOSTILE if text not in shown] == []


def test_on_a_phone_a_sentence_with_a_command_in_it_stays_a_sentence(open_page: OpenPage, at: At) -> None:
    page = open_page(at("/doctor"), viewport={"width": 390, "height": 800})
    command = page.locator("p.trouble code")
    expect(command).to_have_text("leasehold doctor")
    # It is no column of its own, in which its words break.
    assert command.evaluate("code => getComputedStyle(code).display") == "inline"


def test_the_server_is_examined_with_what_is_wrong_first(
    open_page: OpenPage, fresh_database_url: str, psql: Psql
) -> None:
    psql(fresh_database_url, "drop index leasehold.jobs_deadline")
    with running_service(fresh_database_url, gateway_token=SECRET) as gateway:
        look_at_the_server(gateway, open_page)


def look_at_the_server(gateway: RunningGateway, open_page: OpenPage) -> None:
    page = open_page(gateway.url("/doctor"))
    sign_in(page, make_token(gateway, "read"))
    expect(page.get_by_text("a token with the scope operate")).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_text("Nothing is wrong as far as can be seen here.")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, make_token(gateway, "read", "operate"))
    page.get_by_role("link", name="Overview").click()
    found = page.get_by_role("list", name="What is wrong").get_by_role("listitem")
    expect(found.filter(has_text="Doctor, drift: missing: index jobs.jobs_deadline")).to_have_count(1)
    found.filter(has_text="Doctor, drift").get_by_role("link").click()
    server = page.get_by_role("region", name="The server")
    expect(server.locator("[data-check]").first).to_contain_text("missing: index jobs.jobs_deadline")
    expect(server.locator("[data-check=notify]")).to_be_hidden()
    server.get_by_text("more checks").click()
    expect(server.locator("[data-check=notify]")).to_contain_text("a notification came")
    assert faults_of(page) == []
    page.goto("about:blank")  # it would complain that nobody answers


def test_many_jobs_are_audited_when_somebody_wants_it(open_page: OpenPage, fresh_database_url: str, psql: Psql) -> None:
    psql(
        fresh_database_url,
        "do $$ begin execute format('alter database %I set leasehold.small_table = 1', current_database()); end $$",
    )
    with running_service(fresh_database_url) as gateway:
        make_faults(psql, fresh_database_url, gateway)
        page = open_page(gateway.url("/doctor"))
        page.get_by_role("button", name="Audit all jobs").click()
        expect(page.locator("[data-finding]")).to_have_count(2)
        page.goto("about:blank")
