"""All commands in one table; each is loaded when it is wanted, because a process that runs one does not need the others."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, cast, get_type_hints

CommandFunction = Callable[..., Coroutine[Any, Any, object]]

# By group, in the order of the help: the module, and its commands. The function of a command is called as it is.
_TABLE = {
    "Start here": [
        ("up.up", "up"),
        ("commands.processes", "demo"),
        ("commands.database", "migrate"),
        ("commands.doctor", "doctor"),
        ("commands.database", "config show, dsn, psql"),
    ],
    "Processes": [
        ("commands.processes", "run, gateway, mcp"),
    ],
    "Jobs": [
        ("commands.enqueue", "enqueue"),
        ("commands.status", "status"),
        ("commands.capacity", "capacity"),
        ("commands.events", "events"),
        ("top.top", "top"),
        ("commands.jobs", "jobs list, jobs show, jobs why, jobs logs, jobs errors"),
        ("commands.jobs_change", "jobs edit, jobs cancel, jobs retry, jobs trigger"),
        ("commands.kinds", "kinds drop, kinds list, kinds show, kinds sync"),
        ("commands.chains", "chains list, chains show, chains wait, chains complete, chains cancel, chains delete"),
        ("commands.queues", "queues list, queues pause, queues resume, queues age"),
        ("commands.queues", "queues limit, queues limits, queues unlimit"),
        ("commands.schedules", "schedules list, schedules show, schedules preview, schedules history"),
        ("commands.schedules_change", "schedules create, schedules update, schedules enable, schedules disable"),
        ("commands.schedules", "schedules trigger, schedules generate, schedules enqueue"),
        ("commands.schedules_change", "schedules delete"),
        ("commands.workers", "workers list, workers show, workers stacks, workers decommission"),
        ("commands.workers", "workers pause, workers resume, workers scale, workers cancel-job"),
        ("commands.payloads", "payloads list, payloads show, payloads get, payloads diff"),
        ("commands.queues", "wake"),
        ("commands.processes", "reap"),
        ("commands.doctor", "audit"),
    ],
    "Moving in": [
        ("commands.sources", "import define, import list, import plan, import run"),
        ("commands.sources", "import seal, import open, import schedules"),
        ("commands.sources", "compat install, compat uninstall"),
    ],
    "Access": [
        ("commands.egress", "egress add, egress list, egress retire, egress test"),
        ("commands.tokens", "tokens create, tokens rotate, tokens list, tokens revoke, tokens log"),
        ("commands.database", "grants"),
    ],
}
COMMANDS = {
    title: {name: module for module, names in rows for name in names.split(", ")} for title, rows in _TABLE.items()
}
PARENTS = {
    "jobs": "List jobs, look at one, ask why it does not run, cancel and retry.",
    "kinds": "What jobs of a kind get where nothing is said: list kinds, look at one, declare those of an app, drop one.",
    "chains": "List chains, look at one, wait for it, end it from outside.",
    "workers": "List workers, look at one, pause and scale them, see where their handlers are.",
    "queues": "List queues, pause, resume and limit them.",
    "schedules": "Make jobs by the clock: look at schedules, change them, fire them.",
    "payloads": "List payloads, look at one, get its content, compare two.",
    "egress": "Identities under which jobs call servers of others: list, add, retire, test them.",
    "import": "Move the jobs and schedules of another queue in: define it, look, run it.",
    "compat": "The tables and functions of task workers, so that their SQL goes on working: make them, remove them.",
    "tokens": "Make, rotate, list and revoke the gateway's access tokens; read what was done with them.",
    "config": "Show the effective settings.",
}
# These tell what they do for as long as they run; the others speak up only when something is wrong.
TALKATIVE = frozenset({"up", "demo", "run", "gateway"})

MODULES = {name: module for commands in COMMANDS.values() for name, module in commands.items()}


def load_command(name: str) -> CommandFunction:
    """The function behind `leasehold NAME`."""
    module = import_module(f"leasehold.cli.{MODULES[name]}")
    command = cast("CommandFunction", getattr(module, name.replace(" ", "_").replace("-", "_")))
    command.__annotations__ = get_type_hints(command, include_extras=True)  # once: the parser asks again and again
    return command


def choose_commands(tokens: Sequence[str]) -> frozenset[str]:
    """The commands that these words may mean. There are some too many if a value looks like a command, and all if no
    command is named."""
    chosen: set[str] = set()
    for token, following in pairwise([*tokens, ""]):
        one = token if token in MODULES else f"{token} {following}"
        chosen |= {one} if one in MODULES else {name for name in MODULES if name.startswith(f"{token} ")}
    return frozenset(chosen or MODULES)
