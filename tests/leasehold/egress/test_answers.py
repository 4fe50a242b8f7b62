from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leasehold.egress.answers import FRESH_SECONDS, Fared, Robots, RobotsForbid, judge, retry_after

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "headers", "verdict"),
    [
        (200, {}, Fared("fine")),
        (404, {}, Fared("fine")),
        (500, {}, Fared("fine")),
        (503, {}, Fared("fine")),
        (503, {"Retry-After": "7"}, Fared("busy", 7.0)),
        (403, {}, Fared("refused")),
        (403, {"Retry-After": "60"}, Fared("refused", 60.0)),
        (429, {}, Fared("busy")),
        (407, {}, Fared("unreachable")),
    ],
)
def test_an_answer_is_judged(status: int, headers: dict[str, str], verdict: Fared) -> None:
    assert judge(status, headers, NOON) == verdict


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("12", 12.0),
        (" 0 ", 0.0),
        ("Thu, 01 Jan 2026 12:01:30 GMT", 90.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("99999999999", 86_400.0),
        ("-5", None),
        ("soon", None),
        ("²", None),
        ("", None),
    ],
)
def test_retry_after_is_a_number_or_a_date(text: str | None, seconds: float | None) -> None:
    assert retry_after(text, NOON) == seconds


RULES = "User-agent: *\nDisallow: /private\n\nUser-agent: greedy\nDisallow: /\n"
SHOP = "http://shop.example"


class Server:
    """Answers with a robots.txt, and counts the questions."""

    def __init__(self, status: int = 200, text: str = RULES) -> None:
        self.answer = (status, text)
        self.asked: list[str] = []

    async def __call__(self, url: str) -> tuple[int, str]:
        self.asked.append(url)
        return self.answer


async def test_a_server_is_asked_once_a_day() -> None:
    server, now = Server(), [0.0]
    robots = Robots(lambda: now[0])
    for page in ("/a", "/b"):
        await robots.check(SHOP + page, "crawler/1", server)
    assert server.asked == [f"{SHOP}/robots.txt"]
    now[0] += FRESH_SECONDS
    await robots.check(f"{SHOP}/a", "crawler/1", server)
    assert len(server.asked) == 2


@pytest.mark.parametrize(("path", "agent"), [("/private/x", "crawler/1"), ("/a", "greedy/2 (us)")])
async def test_what_it_forbids_is_forbidden(path: str, agent: str) -> None:
    with pytest.raises(RobotsForbid, match=r"robots\.txt of http://shop\.example forbids"):
        await Robots(lambda: 0.0).check(SHOP + path, agent, Server())


async def test_without_one_everything_is_allowed() -> None:
    await Robots(lambda: 0.0).check(f"{SHOP}/private", "crawler/1", Server(404, "Disallow: /"))


async def test_a_server_that_cannot_say_forbids_and_is_asked_again() -> None:
    server, robots = Server(500), Robots(lambda: 0.0)
    with pytest.raises(RobotsForbid, match="answered 500"):
        await robots.check(f"{SHOP}/a", "crawler/1", server)
    server.answer = (200, "")
    await robots.check(f"{SHOP}/a", "crawler/1", server)
