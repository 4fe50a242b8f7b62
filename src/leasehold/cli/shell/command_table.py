"""All commands in one table; each is loaded when it is wanted, because a process that runs one does not need the others."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, cast

CommandFunction = Callable[..., Coroutine[Any, Any, object]]

# By group, each with the module it is in; its function is called as the command is.
COMMANDS: dict[str, dict[str, str]] = {
    "Start here": {
        "up": "up.up",
        "demo": "commands.processes.demo",
        "migrate": "commands.database.migrate",
        "doctor": "commands.observe.doctor",
        "config show": "commands.database.config",
        "dsn": "commands.database.address",
        "psql": "commands.database.address",
    },
    "Processes": {
        "run": "commands.processes.run",
        "gateway": "commands.processes.gateway",
        "mcp": "commands.processes.mcp",
    },
    "Jobs": {
        "enqueue": "commands.jobs.enqueue",
        "status": "commands.observe.status",
        "capacity": "commands.capacity.capacity",
        "events": "commands.observe.events",
        "top": "top.top",
        "jobs list": "commands.jobs.read",
        "jobs show": "commands.jobs.read",
        "jobs why": "commands.jobs.why",
        "jobs logs": "commands.jobs.logs",
        "jobs errors": "commands.jobs.edit",
        "jobs edit": "commands.jobs.edit",
        "jobs cancel": "commands.jobs.change",
        "jobs retry": "commands.jobs.change",
        "jobs trigger": "commands.jobs.trigger",
        "kinds drop": "commands.jobs.kinds",
        "kinds list": "commands.jobs.kinds",
        "kinds show": "commands.jobs.kinds",
        "kinds sync": "commands.jobs.kinds",
        "chains list": "commands.chains.read",
        "chains show": "commands.chains.read",
        "chains wait": "commands.chains.read",
        "chains complete": "commands.chains.change",
        "chains cancel": "commands.chains.change",
        "chains delete": "commands.chains.change",
        "queues list": "commands.queues.queues",
        "queues pause": "commands.queues.queues",
        "queues resume": "commands.queues.queues",
        "queues age": "commands.queues.ageing",
        "queues limit": "commands.queues.limits",
        "queues limits": "commands.queues.limits",
        "queues unlimit": "commands.queues.limits",
        "schedules list": "commands.schedules.read",
        "schedules show": "commands.schedules.read",
        "schedules preview": "commands.schedules.read",
        "schedules history": "commands.schedules.read",
        "schedules create": "commands.schedules.change",
        "schedules update": "commands.schedules.change",
        "schedules enable": "commands.schedules.change",
        "schedules disable": "commands.schedules.change",
        "schedules trigger": "commands.schedules.fire",
        "schedules generate": "commands.schedules.fire",
        "schedules enqueue": "commands.schedules.fire",
        "schedules delete": "commands.schedules.change",
        "workers list": "commands.workers.read",
        "workers show": "commands.workers.read",
        "workers stacks": "commands.workers.read",
        "workers decommission": "commands.workers.change",
        "workers pause": "commands.workers.change",
        "workers resume": "commands.workers.change",
        "workers scale": "commands.workers.change",
        "workers cancel-job": "commands.workers.change",
        "payloads list": "commands.payloads.payloads",
        "payloads show": "commands.payloads.payloads",
        "payloads get": "commands.payloads.payloads",
        "payloads diff": "commands.payloads.payloads",
        "wake": "commands.queues.wake",
        "reap": "commands.processes.reap",
        "audit": "commands.observe.audit",
    },
    "Moving in": {
        "import define": "commands.sources.define",
        "import list": "commands.sources.look",
        "import plan": "commands.sources.look",
        "import run": "commands.sources.move",
        "import seal": "commands.sources.move",
        "import open": "commands.sources.move",
        "import schedules": "commands.sources.move",
    },
    "Access": {
        "egress add": "commands.egress.change",
        "egress list": "commands.egress.read",
        "egress retire": "commands.egress.change",
        "egress test": "commands.egress.read",
        "tokens create": "commands.tokens.tokens",
        "tokens rotate": "commands.tokens.tokens",
        "tokens list": "commands.tokens.tokens",
        "tokens revoke": "commands.tokens.tokens",
        "tokens log": "commands.tokens.tokens",
        "grants": "commands.database.grants",
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
    "tokens": "Make, rotate, list and revoke the gateway's bearer tokens; read what was done with them.",
    "config": "Show the effective settings.",
}
# These tell what they do for as long as they run; the others speak up only when something is wrong.
TALKATIVE = frozenset({"up", "demo", "run", "gateway"})

MODULES = {name: module for commands in COMMANDS.values() for name, module in commands.items()}


def load_command(name: str) -> CommandFunction:
    """The function behind `leasehold NAME`."""
    module = import_module(f"leasehold.cli.{MODULES[name]}")
    return cast("CommandFunction", getattr(module, name.replace(" ", "_").replace("-", "_")))


def choose_commands(tokens: Sequence[str]) -> frozenset[str]:
    """The commands that these words may mean. There are some too many if a value looks like a command, and all if no
    command is named."""
    chosen: set[str] = set()
    for word, following in pairwise([*tokens, ""]):
        one = word if word in MODULES else f"{word} {following}"
        chosen |= {one} if one in MODULES else {name for name in MODULES if name.startswith(f"{word} ")}
    return frozenset(chosen or MODULES)
