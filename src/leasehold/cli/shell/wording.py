"""Words of the database and of other job queues, and the commands that they mean."""

from __future__ import annotations

from leasehold.cli.shell.command_table import MODULES

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
OTHER_WORDS = {
    "beat": "run scheduler",
    "dashboard": "gateway",
    "delay": "enqueue",
    "delete": "jobs cancel",
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
    "web": "gateway",
    "worker": "run worker",
}
MOST = 3


def in_words_of_commands(text: str) -> str:
    """An error of a SQL function, for somebody at a command line."""
    for words, command in COMMANDS_FOR_FUNCTIONS.items():
        text = text.replace(words, command)
    return text


def other_commands(word: str) -> list[str]:
    """The commands that somebody may have meant who wrote a word that is none: `list`, or what other systems call it."""
    found = sorted(
        (name for name in MODULES if name.endswith(f" {word}")), key=lambda name: not name.startswith("jobs ")
    )
    elsewhere = [OTHER_WORDS[word]] if word in OTHER_WORDS else []
    return (found or elsewhere)[:MOST]
