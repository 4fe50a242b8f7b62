"""All commands in one table; each is loaded when it is wanted, because a process that runs one does not need the others."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, cast

Command = Callable[..., Coroutine[Any, Any, object]]

# By group, each with the module it is in; its function is called as the command is.
COMMANDS: dict[str, dict[str, str]] = {
    "Start here": {"up": "up", "demo": "demo", "migrate": "migrate", "doctor": "doctor", "config show": "config"},
    "Processes": {"run": "run", "gateway": "gateway"},
    "Jobs": {
        "enqueue": "enqueue",
        "status": "status",
        "capacity": "capacity",
        "events": "events",
        "top": "top",
        "jobs list": "jobs_read",
        "jobs show": "jobs_read",
        "jobs why": "jobs_why",
        "jobs logs": "jobs_logs",
        "jobs errors": "jobs_edit",
        "jobs edit": "jobs_edit",
        "jobs cancel": "jobs_change",
        "jobs retry": "jobs_change",
        "jobs trigger": "jobs_trigger",
        "chains list": "chains_read",
        "chains show": "chains_read",
        "chains wait": "chains_read",
        "chains complete": "chains_change",
        "chains cancel": "chains_change",
        "chains delete": "chains_change",
        "queues list": "queues",
        "queues pause": "queues",
        "queues resume": "queues",
        "queues age": "queue_ageing",
        "queues limit": "queue_limits",
        "queues limits": "queue_limits",
        "queues unlimit": "queue_limits",
        "schedules list": "schedules_read",
        "schedules show": "schedules_read",
        "schedules preview": "schedules_read",
        "schedules history": "schedules_read",
        "schedules create": "schedules_change",
        "schedules update": "schedules_change",
        "schedules enable": "schedules_change",
        "schedules disable": "schedules_change",
        "schedules trigger": "schedules_fire",
        "schedules generate": "schedules_fire",
        "schedules delete": "schedules_change",
        "workers list": "workers_read",
        "workers show": "workers_read",
        "workers stacks": "workers_read",
        "workers decommission": "workers_change",
        "workers pause": "workers_change",
        "workers resume": "workers_change",
        "workers scale": "workers_change",
        "workers cancel-job": "workers_change",
        "wake": "wake",
        "reap": "reap",
        "audit": "audit",
    },
    "Access": {
        "tokens create": "tokens",
        "tokens rotate": "tokens",
        "tokens list": "tokens",
        "tokens revoke": "tokens",
        "tokens log": "tokens",
        "grants": "grants",
    },
}
PARENTS = {
    "jobs": "List jobs, look at one, ask why it does not run, cancel and retry.",
    "chains": "List chains, look at one, wait for it, end it from outside.",
    "workers": "List workers, look at one, pause and scale them, see where their handlers are.",
    "queues": "List queues, pause, resume and limit them.",
    "schedules": "Make jobs by the clock: look at schedules, change them, fire them.",
    "tokens": "Make, rotate, list and revoke the gateway's bearer tokens; read what was done with them.",
    "config": "Show the effective settings.",
}
# These tell what they do for as long as they run; the others speak up only when something is wrong.
TALKATIVE = frozenset({"up", "demo", "run", "gateway"})

MODULES = {name: module for commands in COMMANDS.values() for name, module in commands.items()}


def load_command(name: str) -> Command:
    """The function behind `leasehold NAME`."""
    module = import_module(f"leasehold.cli.{MODULES[name]}")
    return cast("Command", getattr(module, name.replace(" ", "_").replace("-", "_")))


def choose_commands(tokens: Sequence[str]) -> frozenset[str]:
    """The commands that these words may mean: a few too many when a value reads like a command, all when none is named."""
    chosen: set[str] = set()
    for word, following in pairwise([*tokens, ""]):
        one = word if word in MODULES else f"{word} {following}"
        chosen |= {one} if one in MODULES else {name for name in MODULES if name.startswith(f"{word} ")}
    return frozenset(chosen or MODULES)
