from __future__ import annotations

import pytest

from leasehold.egress.failures import RobotsForbid
from leasehold.egress.robots import FRESH_SECONDS, Robots

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
