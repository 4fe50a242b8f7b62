"""All commands in one table, and the cyclopts application made from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import Any

from cyclopts import App, Group
from rich.console import Console

from leasehold.cli.audit import audit
from leasehold.cli.capacity import capacity
from leasehold.cli.chains_change import chains_cancel, chains_complete, chains_delete
from leasehold.cli.chains_read import chains_list, chains_show, chains_wait
from leasehold.cli.config import config_show
from leasehold.cli.demo import demo
from leasehold.cli.doctor import doctor
from leasehold.cli.enqueue import enqueue
from leasehold.cli.events import events
from leasehold.cli.exit_codes import describe_exit_codes
from leasehold.cli.gateway import gateway
from leasehold.cli.grants import grants
from leasehold.cli.jobs_change import jobs_cancel, jobs_retry
from leasehold.cli.jobs_edit import jobs_edit, jobs_errors
from leasehold.cli.jobs_logs import jobs_logs
from leasehold.cli.jobs_read import jobs_list, jobs_show
from leasehold.cli.jobs_trigger import jobs_trigger
from leasehold.cli.jobs_why import jobs_why
from leasehold.cli.migrate import migrate
from leasehold.cli.options import COMMON
from leasehold.cli.queue_ageing import queues_age
from leasehold.cli.queue_limits import queues_limit, queues_limits, queues_unlimit
from leasehold.cli.queues import queues_list, queues_pause, queues_resume
from leasehold.cli.reap import reap
from leasehold.cli.run import run
from leasehold.cli.schedules_change import (
    schedules_create,
    schedules_delete,
    schedules_disable,
    schedules_enable,
    schedules_update,
)
from leasehold.cli.schedules_fire import schedules_generate, schedules_trigger
from leasehold.cli.schedules_read import schedules_history, schedules_list, schedules_preview, schedules_show
from leasehold.cli.status import status
from leasehold.cli.terminal import Terminal
from leasehold.cli.tokens import tokens_create, tokens_list, tokens_log, tokens_revoke, tokens_rotate
from leasehold.cli.top import top
from leasehold.cli.up import up
from leasehold.cli.wake import wake
from leasehold.cli.workers_change import (
    workers_cancel_job,
    workers_decommission,
    workers_pause,
    workers_resume,
    workers_scale,
)
from leasehold.cli.workers_read import workers_list, workers_show, workers_stacks

Command = Callable[..., Coroutine[Any, Any, object]]

COMMANDS: dict[str, dict[str, Command]] = {
    "Start here": {"up": up, "demo": demo, "migrate": migrate, "doctor": doctor, "config show": config_show},
    "Processes": {"run": run, "gateway": gateway},
    "Jobs": {
        "enqueue": enqueue,
        "status": status,
        "capacity": capacity,
        "events": events,
        "top": top,
        "jobs list": jobs_list,
        "jobs show": jobs_show,
        "jobs why": jobs_why,
        "jobs logs": jobs_logs,
        "jobs errors": jobs_errors,
        "jobs edit": jobs_edit,
        "jobs cancel": jobs_cancel,
        "jobs retry": jobs_retry,
        "jobs trigger": jobs_trigger,
        "chains list": chains_list,
        "chains show": chains_show,
        "chains wait": chains_wait,
        "chains complete": chains_complete,
        "chains cancel": chains_cancel,
        "chains delete": chains_delete,
        "queues list": queues_list,
        "queues pause": queues_pause,
        "queues resume": queues_resume,
        "queues age": queues_age,
        "queues limit": queues_limit,
        "queues limits": queues_limits,
        "queues unlimit": queues_unlimit,
        "schedules list": schedules_list,
        "schedules show": schedules_show,
        "schedules preview": schedules_preview,
        "schedules history": schedules_history,
        "schedules create": schedules_create,
        "schedules update": schedules_update,
        "schedules enable": schedules_enable,
        "schedules disable": schedules_disable,
        "schedules trigger": schedules_trigger,
        "schedules generate": schedules_generate,
        "schedules delete": schedules_delete,
        "workers list": workers_list,
        "workers show": workers_show,
        "workers stacks": workers_stacks,
        "workers decommission": workers_decommission,
        "workers pause": workers_pause,
        "workers resume": workers_resume,
        "workers scale": workers_scale,
        "workers cancel-job": workers_cancel_job,
        "wake": wake,
        "reap": reap,
        "audit": audit,
    },
    "Access": {
        "tokens create": tokens_create,
        "tokens rotate": tokens_rotate,
        "tokens list": tokens_list,
        "tokens revoke": tokens_revoke,
        "tokens log": tokens_log,
        "grants": grants,
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
TALKATIVE: frozenset[Command] = frozenset({up, demo, run, gateway})

SUBCOMMANDS = Group("Commands", sort_key=0)
SUMMARY = """Background jobs on nothing but Postgres.

Try: leasehold up"""
HELP_WIDTH = 100


def build_application(terminal: Terminal) -> App:
    """The cyclopts application; every command and its help are in it. Its launcher is added by the caller."""
    application = App(
        name="leasehold",
        help=SUMMARY,
        help_epilogue=describe_exit_codes(),
        help_format="plaintext",
        version=_version,
        console=_help_console(terminal),
        group_commands=Group("Help", sort_key=80),
    )
    application.meta.group_parameters = COMMON
    for number, (title, commands) in enumerate(COMMANDS.items()):
        group = Group(title, sort_key=number)
        for position, (name, command) in enumerate(commands.items()):
            _add(application, group, position, name, command)
    return application


def _add(application: App, group: Group, position: int, name: str, command: Command) -> None:
    text, example = split_example(command)
    first, _, second = name.partition(" ")
    if second and first not in application:
        application.command(App(name=first, group=group, help=PARENTS[first], help_epilogue="", sort_key=position))
    parent, place = (application[first], SUBCOMMANDS) if second else (application, group)
    parent.command(
        command,
        name=second or first,
        group=place,
        help=text,
        help_epilogue=example,
        usage=describe_usage(name, command),
        sort_key=position,
    )


def describe_usage(name: str, command: Command) -> str:
    """The usage line, which calls the arguments what the table below it calls them."""
    words = ["Usage: leasehold", name, "[OPTIONS]"]
    for each in inspect.signature(command).parameters.values():
        if each.kind is each.POSITIONAL_ONLY:
            words.append(each.name.upper() if each.default is each.empty else f"[{each.name.upper()}]")
        elif each.kind is each.VAR_POSITIONAL:
            words.append(f"[{each.name.upper()}...]")
    return " ".join(words)


def split_example(command: Command) -> tuple[str, str]:
    """A command's docstring: what it does, a line per paragraph, and the example at its end."""
    text, _, example = (inspect.getdoc(command) or "").partition("\n\nExample:\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return text, f"Example:\n{example}" if example else ""


def _help_console(terminal: Terminal) -> Console:
    width = None if terminal.stdout.isatty() else HELP_WIDTH
    colours = "auto" if terminal.has_colour(terminal.stdout) else None
    return Console(file=terminal.stdout, width=width, color_system=colours, highlight=False)


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415

    return version("leasehold")
