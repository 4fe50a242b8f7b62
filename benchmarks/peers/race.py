"""`python -m benchmarks peers [--quick] [NAME…]`: rounds in turn, then the table, a picture and docs/benchmarks.md."""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Sequence

from benchmarks.figures import say
from benchmarks.machine import Machine, describe
from benchmarks.peers.contestants import CONTESTANTS, Contestant
from benchmarks.peers.installing import command
from benchmarks.peers.racing import Effort, Race
from benchmarks.peers.table import Rounds, markdown, picture
from benchmarks.server import ROOT, Server, open_server
from benchmarks.server import run as in_asyncio

EFFORTS = {
    "full": (3, Effort(drained=50_000, singles=1_000, pings=100, idle_seconds=20)),
    "quick": (1, Effort(drained=10_000, singles=300, pings=30, idle_seconds=5)),
}
PAGE = ROOT / "docs" / "benchmarks.md"
PICTURE = ROOT / "docs" / "images" / "peers.svg"
PLACE = re.compile(r"(?<=<!-- peers -->\n).*?(?=<!-- end of peers -->)", re.DOTALL)


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and write the page where all rounds were run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks peers")
    parser.add_argument("names", metavar="NAME", nargs="*", help="some of the contestants; all if none is named")
    parser.add_argument("--quick", action="store_const", const="quick", default="full", dest="size")
    options = parser.parse_args(arguments)
    chosen = [each for each in CONTESTANTS if not options.names or each.name in options.names]
    commands = {each.name: command(each) for each in chosen}
    rounds: dict[str, dict[str, list[float]]] = {each.name: {} for each in chosen}
    number, effort = EFFORTS[options.size]
    with open_server(None) as server, server.template():
        machine = in_asyncio(describe(server))
        for turn in range(number):
            for contestant in chosen:
                say(f"round {turn + 1} of {number}: {contestant.name}")
                for key, value in in_asyncio(_one(server, contestant, commands[contestant.name], effort)).items():
                    rounds[contestant.name].setdefault(key, []).append(value)
            if options.size == "full" and len(chosen) == len(CONTESTANTS):
                _write(rounds, f"{_on(machine)}; medians of {turn + 1} rounds in turn")
    say(f"{machine}")
    print(markdown(rounds))
    return 0


def _on(machine: Machine) -> str:
    where = f"{machine.processor}, {machine.cores} cores, load {machine.load:.1f} before"
    return f"{where}; Python {machine.python}, Postgres {machine.postgres}"


def _write(rounds: Rounds, heading: str) -> None:
    """What is known after a round, so that a run that is cut off leaves it."""
    PICTURE.write_text(picture(rounds))
    settings = "\n".join(f"- {each.name}: {each.settings}" for each in CONTESTANTS)
    text = f"{heading}\n\n{markdown(rounds)}\n\n![jobs per second](images/peers.svg)\n\n{settings}\n"
    PAGE.write_text(PLACE.sub(lambda _: text, PAGE.read_text()))


async def _one(server: Server, contestant: Contestant, program: list[str], effort: Effort) -> dict[str, float]:
    async with server.database() as dsn:
        race = Race(server, contestant, program, dsn)
        try:
            return await race.run(effort)
        except (subprocess.SubprocessError, TimeoutError) as error:
            say(f"  {contestant.name} did not finish: {error} {getattr(error, 'stderr', '')}")
            return race.figures
