"""Flags that several commands share. A flag that stands for a setting takes its help text from the setting."""

# No annotations as text: the parser would evaluate them again and again.

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Literal

from cyclopts import Group, Parameter, Token
from cyclopts.validators import Number

from leasehold.settings import Settings, describe_setting, show_value
from leasehold.settings.sources import environment_name
from leasehold.validation import LARGEST_BIGINT, LEAST_INTEGER, MOST_INTEGER

Output = Literal["text", "json", "jsonl"]

COMMON = Group("Common options", sort_key=90)
# Injected by the launcher, not parsed.
INJECTED = Parameter(parse=False)


def whole_number(_type: type, tokens: Sequence[Token]) -> int:
    """An integer as it is written. The parser's own converter takes 2.7 for 3, which may be another job."""
    [token] = tokens
    if not re.fullmatch("[+-]?[0-9]+", token.value):
        raise ValueError  # the parser says what it cannot convert
    return int(token.value)


WHOLE = Parameter(converter=whole_number)
# What Postgres can keep; anything else is refused before it is asked.
AN_ID = Parameter(validator=Number(gte=1, lte=LARGEST_BIGINT), converter=whole_number)
FAIL_FAST = Parameter(
    help="End at the start with exit code 5 if the database cannot be reached, or 6 if it has no schema yet, instead of waiting.",
    negative=(),
)
MIGRATE = Parameter(
    help="Bring the schema up to this code first, as `leasehold migrate` does; of several that start, one does it.",
    negative=(),
)
AN_INTEGER = Parameter(validator=Number(gte=LEAST_INTEGER, lte=MOST_INTEGER), converter=whole_number)


def setting(name: str) -> Parameter:
    """The flag for a setting: its description, its default, and the environment variable that does the same."""
    default = show_value(name, getattr(Settings(), name))
    shown = "" if default in {"-", "(all)", "(none)"} else f"; default {default}"
    return Parameter(help=f"{describe_setting(name)} [{environment_name(name)}{shown}]")


@dataclass(frozen=True)
class CommonOptions:
    """Flags that every command has."""

    output: Annotated[
        Output | None,
        Parameter(help="How to print the result; text unless told otherwise.", group=COMMON),
    ] = None
    database_url: Annotated[str | None, setting("database_url"), Parameter(group=COMMON)] = None
    data_folder: Annotated[str | None, setting("data_folder"), Parameter(group=COMMON)] = None
    config: Annotated[
        str | None, Parameter(help="Settings file; else ./leasehold.toml. [LEASEHOLD_CONFIG]", group=COMMON)
    ] = None
    log_level: Annotated[str | None, setting("log_level"), Parameter(group=COMMON)] = None
    log_format: Annotated[str | None, setting("log_format"), Parameter(group=COMMON)] = None
    verbose: Annotated[bool, Parameter(alias="-v", help="Say which database is used.", group=COMMON, negative=())] = (
        False
    )

    def flags(self) -> dict[str, object]:
        """Those that are settings, by setting name."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name in Settings.__struct_fields__}


@dataclass(frozen=True)
class WorkerOptions:
    """Flags of commands that start workers, all of them settings."""

    app: Annotated[str | None, setting("app")] = None
    queues: Annotated[str | None, setting("queues")] = None
    slots: Annotated[int | None, setting("slots"), AN_INTEGER] = None
    worker_name: Annotated[str | None, setting("worker_name")] = None
    app_version: Annotated[str | None, setting("app_version")] = None
    memory_backoff: Annotated[float | None, setting("memory_backoff")] = None
    cpu_backoff: Annotated[float | None, setting("cpu_backoff")] = None
    backoff_seconds: Annotated[float | None, setting("backoff_seconds")] = None
    lease_seconds: Annotated[float | None, setting("lease_seconds")] = None
    renew_seconds: Annotated[float | None, setting("renew_seconds")] = None
    retry_initial_seconds: Annotated[float | None, setting("retry_initial_seconds")] = None
    retry_multiplier: Annotated[float | None, setting("retry_multiplier")] = None
    retry_step_seconds: Annotated[float | None, setting("retry_step_seconds")] = None
    retry_cap_seconds: Annotated[float | None, setting("retry_cap_seconds")] = None
    poll_seconds: Annotated[float | None, setting("poll_seconds")] = None
    heartbeat_seconds: Annotated[float | None, setting("heartbeat_seconds")] = None
    drain_seconds: Annotated[float | None, setting("drain_seconds")] = None
    stop_seconds: Annotated[float | None, setting("stop_seconds")] = None
    retention_days: Annotated[int | None, setting("retention_days"), AN_INTEGER] = None
    notify: Annotated[str | None, setting("notify")] = None

    def flags(self) -> dict[str, object]:
        """By setting name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}
