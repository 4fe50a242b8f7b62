"""The command line."""

from __future__ import annotations

import argparse
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import SystemRandom

import msgspec

from benchmarks.figures import say
from faults.checker.judge import judge
from faults.history.file import read_history
from faults.history.history import History
from faults.history.records import Begin, Fault, Over
from faults.run.machine import Wish, run_machine
from faults.run.recovery import table
from faults.schedule.kinds import KINDS

SHORT = Wish(seed=0, command="")
LONG = msgspec.structs.replace(SHORT, seconds=1900.0, every=3.0, rate=700.0, most_waiting=8000, batch=60, drain=300.0)


def main(arguments: Sequence[str]) -> int:
    """Run or judge. Returns the exit code: 1 when an invariant is broken."""
    options = parser().parse_args(arguments)
    if options.command == "run":
        return run(options)
    if options.command == "django-soak":
        from faults.soak.command import soak  # noqa: PLC0415  needs Django

        return soak(
            quick=options.quick,
            seconds=options.seconds,
            seed=options.seed,
            folder=options.folder,
            dsn=options.dsn,
            say=say,
        )
    if options.command == "table":
        tables = table([read_history(file) for file in options.files])
        if options.into is None:
            print(tables)
        else:
            options.into.write_text(with_results(options.into.read_text(), tables))
        return 0
    return verdict(read_history(options.file), options.file)


def parser() -> argparse.ArgumentParser:
    """What may be said."""
    made = argparse.ArgumentParser(
        prog="python -m faults", description="A fleet under faults, and a checker of its history."
    )
    commands = made.add_subparsers(dest="command", required=True)
    run_ = commands.add_parser("run", help="run the machine and judge what happened")
    run_.add_argument("--seed", type=int, help="of an earlier run; a new one if not given")
    run_.add_argument("--long", action="store_true", help="half an hour, a million jobs")
    run_.add_argument("--seconds", type=float, help="how long load and faults last")
    run_.add_argument("--every", type=float, help="seconds between two faults, on the average")
    run_.add_argument("--rate", type=float, help="jobs a second")
    run_.add_argument("--faults", metavar="NAME,…", help=f"only these: {', '.join(KINDS)}")
    run_.add_argument("--folder", type=Path, help="where history and logs go; a temporary one if not given")
    judge_ = commands.add_parser("judge", help="judge the history of an earlier run")
    judge_.add_argument("file", type=Path)
    table_ = commands.add_parser("table", help="how often each fault came, and how long until work went on (Markdown)")
    table_.add_argument("files", type=Path, nargs="+")
    table_.add_argument("--into", type=Path, metavar="PAGE", help="put it under the heading Results of this page")
    soak_ = commands.add_parser("django-soak", help="the soak of django-ox on leasehold.django.Backend: 22 minutes")
    soak_.add_argument("--quick", action="store_true", help="a minute")
    soak_.add_argument("--seconds", type=float, help="how long tasks come in each of the two scenes with load")
    soak_.add_argument("--seed", type=int, default=13, help="of the kills and of the mix")
    soak_.add_argument("--folder", type=Path, help="where logs go; a temporary one if not given")
    soak_.add_argument("--dsn", help="an empty database to use; Postgres of its own if not given")
    return made


def run(options: argparse.Namespace) -> int:
    """Run, then judge."""
    seed = options.seed if options.seed is not None else SystemRandom().randrange(10**6)
    given = {
        name: getattr(options, name) for name in ("seconds", "every", "rate") if getattr(options, name) is not None
    }
    names = tuple(options.faults.split(",")) if options.faults else None
    folder = options.folder or Path(tempfile.mkdtemp(prefix="leasehold-faults-run-"))
    again = ["make faults", f"SEED={seed}", *(["LONG=1"] if options.long else [])]
    size = LONG if options.long else SHORT
    wish = msgspec.structs.replace(size, seed=seed, command=" ".join(again), faults=names, **given)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # either way the fleet is taken down
    path = run_machine(wish, folder, say)
    return verdict(read_history(path), path)


def verdict(history: History, path: Path) -> int:
    """What the checker finds, for people."""
    started = time.monotonic()
    found = judge(history)
    begin, over = history.one(Begin), history.one(Over)
    for violation in found:
        print(violation.describe())
    faults = history.of(Fault)
    kinds = len({fault.name for fault in faults})
    print(
        f"seed {begin.seed}: {len(history.versions):,} jobs, {len(faults)} faults of {kinds} kinds in"
        f" {over.healed - begin.at:.0f} s, judged in {time.monotonic() - started:.0f} s: "
        + (f"{len(found)} violations" if found else "no invariant broken")
    )
    if found:
        print(f"run it again: {begin.command}\njudge it again: python -m faults judge {path}")
    return 1 if found else 0


def with_results(page: str, tables: str) -> str:
    """The page with these tables in place of what stands under its heading Results."""
    before, _, rest = page.partition("## Results\n")
    _, heading, after = rest.partition("\n## ")
    return f"{before}## Results\n{tables}\n{heading}{after}"
