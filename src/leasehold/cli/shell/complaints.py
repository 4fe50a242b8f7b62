"""Errors as one line on standard error; a traceback only for those who asked for it with `--log-level debug`."""

from __future__ import annotations

import difflib
import re
import traceback
from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from typing import cast

from cyclopts import CycloptsError
from cyclopts.exceptions import MissingArgumentError, UnknownCommandError, UnknownOptionError, UnusedCliTokensError

from leasehold.cli.runtime.exit_codes import ExitCode, exit_code_of
from leasehold.cli.runtime.options import CommonOptions
from leasehold.cli.runtime.terminal import Terminal
from leasehold.cli.shell.command_table import MODULES
from leasehold.errors import LeaseholdError, LockTimeout, NoAnswer
from leasehold.observability.logs import escape_controls, redact_dsns
from leasehold.settings.sources import flag_name

# What errors of SQL functions say to people in psql, and what they say to people at a command line. A test holds it against
# the functions: an error that names one has its entry here.
COMMANDS_FOR_FUNCTIONS = {
    "list_blocked_jobs lists all": "`leasehold chains show` lists all",
    "select * from leasehold.find_epoch() tells the epoch": "`leasehold doctor` tells the epoch",
    """select leasehold.enqueue_jobs('[{"kind": "echo"}]')""": "`leasehold enqueue echo`",
    "drop_limit takes a limit away": "`leasehold queues unlimit` takes a limit away",
    """select leasehold.create_schedule('{"name": "hourly", "kind": "echo", "cron": "@hourly"}')""": (
        "`leasehold schedules create hourly echo --cron @hourly`"
    ),
    "update_schedule changes it": "`leasehold schedules update` changes it",
    "list_schedules names them": "`leasehold schedules list` names them",
    "leasehold.list_workers() shows those that there are": "`leasehold workers list` shows those that there are",
    "commands: decommission, pause, resume, set_concurrency, cancel_job, dump_stacks": (
        "commands: workers decommission, pause, resume, scale, cancel-job, stacks"
    ),
}
# What other job queues call it.
OTHER_NAMES = {
    "beat": "run scheduler",
    "dashboard": "gateway",
    "delay": "enqueue",
    "delete": "jobs cancel",
    "help": "--help",
    "init": "migrate",
    "inspect": "status",
    "log": "jobs logs",
    "ls": "jobs list",
    "periodic": "schedules list",
    "scheduler": "run scheduler",
    "send": "enqueue",
    "serve": "gateway",
    "shell": "psql",
    "start": "up",
    "version": "--version",
    "web": "gateway",
    "worker": "run worker",
}
MOST = 3
HINTS: dict[type[LeaseholdError], str] = {
    LockTimeout: "; `leasehold doctor` tells who has the lock",
    NoAnswer: "; `leasehold doctor` tells whether somebody has a lock",
}


def in_command_names(text: str) -> str:
    """An error of a SQL function, for somebody at a command line."""
    for words, command in COMMANDS_FOR_FUNCTIONS.items():
        text = text.replace(words, command)
    return text


def other_commands(typed: str) -> list[str]:
    """The commands that somebody may have meant who wrote a word that is none: `list`, or what other systems call it."""
    found = sorted(
        (name for name in MODULES if name.endswith(f" {typed}")), key=lambda name: not name.startswith("jobs ")
    )
    elsewhere = [OTHER_NAMES[typed]] if typed in OTHER_NAMES else []
    return (found or elsewhere)[:MOST]


def complain_about_usage(error: CycloptsError, terminal: Terminal) -> int:
    """Say what is wrong with the arguments."""
    text = " ".join(str(error).split())
    if isinstance(error, UnknownOptionError) and "Did you mean" not in text:
        flags = [flag_name(each.name) for each in fields(CommonOptions)]
        nearest = difflib.get_close_matches(error.token.keyword or "", flags, n=1)
        text += f" Did you mean {nearest[0]}?" if nearest else ""
    text = text.replace("int|None", "int")
    if isinstance(error, UnusedCliTokensError):
        text = f"too many arguments: {' '.join(error.unused_tokens or [])}"
    if isinstance(error, MissingArgumentError):
        text += _with_dash(error.keyword, error.root_input_tokens or [])
    if isinstance(error, UnknownCommandError):
        others = " or ".join(f'"{name}"' for name in other_commands((error.unused_tokens or [""])[0]))
        text = (
            re.sub(r'("\.)( Did you mean [^?]*\?)?', rf"\1 Did you mean {others}?", text, count=1) if others else text
        )
    return _say(text[:1].lower() + text[1:], ExitCode.USAGE, terminal)


def _with_dash(flag: str | None, tokens: Sequence[str]) -> str:
    """What to write if the word after a flag is its value although it looks like another flag."""
    values = [value for token, value in pairwise(tokens) if token == flag and re.match("-[^-]", value)]
    return f" If {values[0]} is its value, write {flag}={values[0]}." if values else ""


def complain(error: BaseException, terminal: Terminal, *, has_traceback: bool) -> int:
    """Say what went wrong, unless it is that nobody reads us any more, and return the exit code for it."""
    cause = single_cause(error)
    code = exit_code_of(cause)
    if code is ExitCode.UNREAD:
        if not terminal.is_read():
            return code
        code = ExitCode.FAILED  # the pipe was another one
    if has_traceback:
        terminal.stderr.write(redact_dsns("".join(traceback.format_exception(error))))
    if code is ExitCode.INTERRUPTED:
        return _say("interrupted", code, terminal)
    if isinstance(cause, LeaseholdError):
        hints = (text for kind, text in HINTS.items() if isinstance(cause, kind))
        return _say(in_command_names(str(cause)) + next(hints, ""), code, terminal)
    hint = "" if has_traceback else " (--log-level debug shows where)"
    return _say(f"{type(cause).__qualname__}: {cause}{hint}", code, terminal)


def complain_about_interruption(terminal: Terminal) -> int:
    """Say that a signal has ended the command; the process knows which."""
    return _say("interrupted", ExitCode.INTERRUPTED, terminal)


def single_cause(error: BaseException) -> BaseException:
    """What nurseries have wrapped: the first of ours if there is one, else the first at all."""
    leaves = _leaves(error)
    return next((leaf for leaf in leaves if isinstance(leaf, LeaseholdError)), leaves[0])


def _leaves(error: BaseException) -> list[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    wrapped = cast("BaseExceptionGroup[BaseException]", error).exceptions
    return [leaf for each in wrapped for leaf in _leaves(each)]


def _say(text: str, code: ExitCode, terminal: Terminal) -> int:
    one_line = " ".join(redact_dsns(text).split("\n"))
    terminal.say(f"error: {escape_controls(one_line)}")
    return code
