"""All commands in one table; each is loaded when it is wanted, because a process that runs one does not need the others."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, cast, get_type_hints

CommandFunction = Callable[..., Coroutine[Any, Any, object]]

# By group, each with the module it is in; its function is called as the command is.
COMMANDS: dict[str, dict[str, str]] = {
    "Start here": {
        "up": "up.up",
        "demo": "commands.processes",
        "migrate": "commands.database",
        "doctor": "commands.doctor",
        "config show": "commands.database",
        "dsn": "commands.database",
        "psql": "commands.database",
    },
    "Processes": {
        "run": "commands.processes",
        "gateway": "commands.processes",
        "mcp": "commands.processes",
    },
    "Jobs": {
        "enqueue": "commands.enqueue",
        "status": "commands.status",
        "capacity": "commands.capacity",
        "events": "commands.events",
        "top": "top.top",
        "jobs list": "commands.jobs",
        "jobs show": "commands.jobs",
        "jobs why": "commands.jobs",
        "jobs logs": "commands.jobs",
        "jobs errors": "commands.jobs_edit",
        "jobs edit": "commands.jobs_edit",
        "jobs cancel": "commands.jobs_change",
        "jobs retry": "commands.jobs_change",
        "jobs trigger": "commands.jobs_change",
        "kinds drop": "commands.kinds",
        "kinds list": "commands.kinds",
        "kinds show": "commands.kinds",
        "kinds sync": "commands.kinds",
        "chains list": "commands.chains",
        "chains show": "commands.chains",
        "chains wait": "commands.chains",
        "chains complete": "commands.chains",
        "chains cancel": "commands.chains",
        "chains delete": "commands.chains",
        "queues list": "commands.queues",
        "queues pause": "commands.queues",
        "queues resume": "commands.queues",
        "queues age": "commands.queues",
        "queues limit": "commands.limits",
        "queues limits": "commands.limits",
        "queues unlimit": "commands.limits",
        "schedules list": "commands.schedules",
        "schedules show": "commands.schedules",
        "schedules preview": "commands.schedules",
        "schedules history": "commands.schedules",
        "schedules create": "commands.schedules_change",
        "schedules update": "commands.schedules_change",
        "schedules enable": "commands.schedules_change",
        "schedules disable": "commands.schedules_change",
        "schedules trigger": "commands.schedules",
        "schedules generate": "commands.schedules",
        "schedules enqueue": "commands.schedules",
        "schedules delete": "commands.schedules_change",
        "workers list": "commands.workers",
        "workers show": "commands.workers",
        "workers stacks": "commands.workers",
        "workers decommission": "commands.workers",
        "workers pause": "commands.workers",
        "workers resume": "commands.workers",
        "workers scale": "commands.workers",
        "workers cancel-job": "commands.workers",
        "payloads list": "commands.payloads",
        "payloads show": "commands.payloads",
        "payloads get": "commands.payloads",
        "payloads diff": "commands.payloads",
        "wake": "commands.queues",
        "reap": "commands.processes",
        "audit": "commands.doctor",
    },
    "Moving in": {
        "import define": "commands.sources",
        "import list": "commands.sources",
        "import plan": "commands.sources",
        "import run": "commands.sources",
        "import seal": "commands.sources",
        "import open": "commands.sources",
        "import schedules": "commands.sources",
        "compat install": "commands.compat",
        "compat uninstall": "commands.compat",
    },
    "Access": {
        "egress add": "commands.egress",
        "egress list": "commands.egress",
        "egress retire": "commands.egress",
        "egress test": "commands.egress",
        "tokens create": "commands.tokens",
        "tokens rotate": "commands.tokens",
        "tokens list": "commands.tokens",
        "tokens revoke": "commands.tokens",
        "tokens log": "commands.tokens",
        "grants": "commands.grants",
    },
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
