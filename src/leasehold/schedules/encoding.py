"""From what callers give to a definition that the database takes, checked on the way."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeAlias, cast, get_args

import msgspec

from leasehold.errors import BadInput
from leasehold.jobs.arguments import encode_args
from leasehold.jobs.kind import DEFAULTS_OF_JOBS, Kind
from leasehold.jobs.new_job import JOB_OPTIONS, NewJob, UniqueByDefault
from leasehold.schedules.definition import (
    FIELDS,
    Missed,
    Overlap,
    ScheduleChange,
    ScheduleDefinition,
)
from leasehold.schedules.timetable import Timetable
from leasehold.schedules.wall_clock import SOME_MOMENT

Definition: TypeAlias = "dict[str, Any]"
"""The JSON object that the SQL functions take."""

_OF_JOB = tuple(name for name in JOB_OPTIONS if name in FIELDS)
# The other options are about one job that is made now.
_NOT_OF_SCHEDULE = (*(name for name in JOB_OPTIONS if name not in FIELDS), "fingerprint")
RHYTHMS = ("every", "cron", "at")
FIRST_YEAR, LAST_YEAR = 1900, 8999
CHOICES = {"missed": get_args(Missed), "overlap": get_args(Overlap)}
LONGEST_NAME = 200
NO_NAME = re.compile(r"[0-9]+|[.]{1,2}|.*/.*")
_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
_UNKNOWN = re.compile(r"unknown field `(?P<field>.*)`")


def define(
    job: NewJob[Any], name: str | None, options: Mapping[str, Any], kind: Kind[..., Any] | None = None
) -> Definition:
    """What makes a schedule of such jobs, where it is known with what their kind wants. Raises BadInput, InvalidArgs."""
    name = job.kind if name is None else name
    for field in _NOT_OF_SCHEDULE:
        value = getattr(job, field)
        if value is not None and not _is_by_default(value, kind):
            raise BadInput(
                f"schedule {name!r}: its jobs cannot have {field}, which is about one job that is made now; see query and overlap"
            )
    given = {field: getattr(job, field) for field in _OF_JOB} | {
        field: value for field, value in options.items() if value is not None
    }
    args = msgspec.json.decode(job.args) if isinstance(job.args, msgspec.Raw) else job.args
    made = checked_definition({**given, "name": name, "kind": job.kind, "args": args})
    return made if kind is None else fitted(made, kind)


def checked_definition(given: Mapping[str, Any]) -> Definition:
    """What makes a schedule, as JSON values. Raises BadInput and InvalidArgs, naming the schedule and what is wrong."""
    what = f"schedule {given.get('name')!r}"
    definition = _convert({name: value for name, value in given.items() if value is not None}, ScheduleDefinition, what)
    if (size := len(definition["name"].encode())) > LONGEST_NAME:
        raise BadInput(f"{what}: a name has at most {LONGEST_NAME} bytes, not {size}")
    if NO_NAME.fullmatch(definition["name"]):
        raise BadInput(f"{what}: name must not be all digits, which is an id, nor ., .. or with a /, which is a path")
    named = [name for name in RHYTHMS if name in definition]
    if len(named) != 1:
        raise BadInput(f"{what}: give one of {', '.join(RHYTHMS)}" + (f", not {' and '.join(named)}" if named else ""))
    _check_times(definition, what)
    return definition


def checked_changes(name: str, given: Mapping[str, Any]) -> Definition:
    """What changes a schedule, as JSON values; None brings back the default. Raises BadInput, InvalidArgs."""
    if not given:
        raise BadInput(f"nothing to change of schedule {name!r} is given")
    changes = _convert(given, ScheduleChange, f"schedule {name!r}")
    named = [each for each in RHYTHMS if changes.get(each) is not None]
    if len(named) > 1:
        raise BadInput(f"schedule {name!r}: give one of {', '.join(RHYTHMS)}, not {' and '.join(named)}")
    _check_times(changes, f"schedule {name!r}")
    return changes


def fitted(definition: Mapping[str, Any], kind: Kind[..., Any]) -> Definition:
    """The definition with what the kind wants where it says nothing itself. Raises InvalidArgs for args that the handler does
    not take, as far as they are known before a query brings them."""
    args = dict(definition.get("args") or {})
    if definition.get("query") is None:
        kind.encode(args)
    else:
        kind.refuse_unknown(args)
    made = dict(definition)
    for name in DEFAULTS_OF_JOBS:
        default = getattr(kind.options, name)
        if made.get(name) is None and default is not None:
            made[name] = default
    return made


def _check_times(definition: Mapping[str, Any], what: str) -> None:
    moments = {
        name: checked_moment(definition.get(name), f"{name} of {what}") for name in ("at", "starts_at", "ends_at")
    }
    try:
        Timetable.of(definition, now=SOME_MOMENT)
    except BadInput as error:
        raise BadInput(f"{what}: {error}") from error
    start, end = moments["starts_at"], moments["ends_at"]
    if start is not None and end is not None and start >= end:
        raise BadInput(f"{what}: starts_at must be before ends_at, {start.isoformat()} is not")


def checked_moment(given: datetime | str | None, what: str) -> datetime | None:
    """A time that arithmetic with time zones cannot take beyond the calendar. Raises BadInput."""
    if given is None:
        return None
    moment = datetime.fromisoformat(given) if isinstance(given, str) else given
    if moment.tzinfo is None:
        raise BadInput(f"{what} must have a time zone, not {moment.isoformat()}; use datetime.now(UTC)")
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise BadInput(f"{what} must be from the year {FIRST_YEAR} to {LAST_YEAR}, not {moment.isoformat()}")
    return moment


def _convert(given: Mapping[str, Any], into: type[msgspec.Struct], what: str) -> Definition:
    plain = {name: _plain(value, f"{name} of {what}") for name, value in given.items()}
    try:
        made: Definition = msgspec.to_builtins(msgspec.convert(plain, into))
        msgspec.json.encode(made)
    except msgspec.ValidationError as error:
        raise BadInput(f"{what}: {_in_words(str(error), plain)}") from None
    except UnicodeEncodeError as error:
        raise BadInput(f"{what}: it has a character that is none: {error}") from None
    return made


def _plain(value: object, what: str) -> object:
    """A value of Python's as JSON has it. Raises BadInput, InvalidArgs for one that JSON or Postgres cannot keep."""
    if isinstance(value, datetime) and value.tzinfo is None:
        raise BadInput(f"{what} must have a time zone, not {value.isoformat()}; use datetime.now(UTC)")
    if isinstance(value, float) and not math.isfinite(value):
        raise BadInput(f"{what} must be a number, not {value}")
    match value:
        case timedelta():
            return value.total_seconds()
        case Mapping():
            return msgspec.json.decode(encode_args(cast("Mapping[str, Any]", value), what))
        case list() | tuple():
            return [_plain(each, what) for each in cast("Sequence[object]", value)]
        case datetime() | msgspec.Struct():
            return msgspec.to_builtins(value)
        case _:
            return value


def _in_words(text: str, given: Mapping[str, object]) -> str:
    """msgspec's message, with the value, what there is, and what was probably meant."""
    found = _PLACE.match(text)
    what, path = (found["what"], found["path"]) if found else (text, None)
    what = what[:1].lower() + what[1:]
    if unknown := _UNKNOWN.search(what):
        near = difflib.get_close_matches(unknown["field"], FIELDS, n=1)
        return f"there is no {unknown['field']}" + (f"; did you mean {near[0]}?" if near else "")
    if path is None:
        return what
    steps = re.findall(r"[^.\[\]]+", path)
    choices = CHOICES.get(next((step for step in reversed(steps) if not step.isdigit()), ""))
    if choices is not None:
        what = f"must be one of {', '.join(choices)}"
    elif "matching regex" in what:
        what = "must not have a control character"
    return f"{path}: {what}, not {_value_at(given, steps)!r:.100}"


def _value_at(given: object, steps: Sequence[str]) -> object:
    for step in steps:
        try:
            given = cast("Any", given)[int(step) if step.isdigit() else step]
        except (KeyError, IndexError, TypeError):
            break
    return given


def _is_by_default(value: object, kind: Kind[..., Any] | None) -> bool:
    """Whether only the kind says so: what it wants of each job enqueued by itself is not for those of a schedule."""
    deadline = None if kind is None or kind.options.deadline is None else timedelta(seconds=kind.options.deadline)
    return isinstance(value, UniqueByDefault) or (deadline is not None and value == deadline)
