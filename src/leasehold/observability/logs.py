"""Logging: one short text line on a terminal, one JSON object per line elsewhere. Passwords in DSNs are masked.

Details go into `extra` (`job_id`, `kind`, `attempt`, `worker_id`, `action` …). JSON has them as fields, text as
`name=value`; a text line of our own leaves out what its message already has, but for the job_id. Lines from inside a
handler have the fields of its job. A traceback comes from the exception of the record or, for an exception that was
raised elsewhere, from `error` in `extra` (type, message, traceback).
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal, TextIO, cast

import msgspec

from leasehold.observability.context import LOGGED_COLUMNS, log_fields, request_fields

MASK = "***"
OWN_FIELDS = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
COLOURS = {"DEBUG": "2", "WARNING": "33", "ERROR": "31", "CRITICAL": "1;31"}
ONLY_FOR_PROGRAMS = frozenset({"incarnation", "error"})
_DSN_IN_TEXT = re.compile(r"""postgres(?:ql)?://[^\s"'<>]+""")
_SECRET_PARAMETER = re.compile(r"(?i)((?:^|[?&;\s])(?:ssl)?password=)[^&\s]*")


def install_logging(
    level: str = "info",
    log_format: Literal["auto", "text", "json"] = "auto",
    *,
    stream: TextIO | None = None,
    environ: Mapping[str, str] | None = None,
) -> logging.Handler:
    """Send every log record to `stream` (default: standard error); returns the handler. A second call replaces it.

    `auto` means text when the stream is a terminal. NO_COLOR in `environ` turns colours off.
    """
    target = stream or sys.stderr
    handler = OurHandler(target)
    handler.addFilter(JobFilter())
    has_colour = target.isatty() and not (environ or {}).get("NO_COLOR")
    handler.setFormatter(TextFormatter(has_colour=has_colour) if wants_text(log_format, target) else JsonFormatter())
    root = logging.getLogger()
    uninstall_logging()
    root.addHandler(handler)
    root.setLevel(level.upper())
    logging.captureWarnings(capture=True)
    return handler


def wants_text(log_format: str, stream: TextIO) -> bool:
    """Whether lines to `stream` are text rather than JSON. `auto` means text where the stream is a terminal."""
    return log_format == "text" or (log_format == "auto" and stream.isatty())


def current_logging() -> tuple[int | None, Literal["text", "json"]]:
    """Level and format of what `install_logging` installed; the level is None where it was not called."""
    root = logging.getLogger()
    ours = next((each for each in root.handlers if isinstance(each, OurHandler)), None)
    level = None if ours is None else root.level
    return level, "text" if ours is not None and isinstance(ours.formatter, TextFormatter) else "json"


def uninstall_logging() -> None:
    """Take our handler away again; safe when there is none."""
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, OurHandler)]:
        root.removeHandler(handler)
    logging.captureWarnings(capture=False)


class OurHandler(logging.StreamHandler[TextIO]):
    """The one handler that `install_logging` owns."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  logging's name
        """Complain as logging does, but raise nothing where standard error itself is closed."""
        with suppress(ValueError, OSError):
            super().handleError(record)


class JobFilter(logging.Filter):
    """Gives each record from inside a handler the job_id, kind, attempt, queue and worker_id of its job.

    A record from other code of a worker gets its worker_id, one from inside a gateway's request its request_id. A field that
    the caller passed as `extra` stays.
    `install_logging` adds this filter. With your own configuration, add it to your handlers, or to the QueueHandler if
    you have one: it must run in the code that logs. Then `%(job_id)s` and JSON formatters find the fields.

    Args:
        everywhere: records from outside of handlers get the fields of a job as well, each None.
    """

    def __init__(self, *, everywhere: bool = False) -> None:
        super().__init__()
        self._elsewhere: dict[str, object] = {}
        if everywhere:
            self._elsewhere |= dict.fromkeys((*LOGGED_COLUMNS, "worker_id"))

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the fields; always true."""
        for name, value in (self._elsewhere | log_fields() | request_fields()).items():
            record.__dict__.setdefault(name, value)
        return True


class JsonFormatter(logging.Formatter):
    """One JSON object per line: at, level, logger, message, the record's extra fields, and error when there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """Never raises: a field that JSON cannot hold comes out as its repr."""
        line: dict[str, object] = {
            "at": _instant(record).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
        }
        line |= {name: value for name, value in extra_fields(record).items() if name not in line}
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = {
                "type": type(record.exc_info[1]).__qualname__,
                "message": redact_dsns(str(record.exc_info[1])),
                "traceback": redact_dsns(self.formatException(record.exc_info)),
            }
        elif reported := _reported_error(record):
            line["error"] = {name: redact_dsns(value) for name, value in reported.items()}
        return _encode(line)


class TextFormatter(logging.Formatter):
    """`13:00:05.123 INFO    dispatcher: claimed  job_id=4 kind=echo`, then the traceback if there is one.

    A logger of leasehold is shown by the name of its module alone, any other by its whole name.
    """

    def __init__(self, *, has_colour: bool = False) -> None:
        super().__init__()
        self._has_colour = has_colour

    def format(self, record: logging.LogRecord) -> str:
        """Never raises; control characters in the message are shown escaped."""
        at = _instant(record).astimezone().strftime("%H:%M:%S.") + f"{int(record.msecs):03d}"
        name = record.name.rpartition(".")[2] if record.name.startswith("leasehold.") else record.name
        message = escape_controls(_message(record))
        fields = {key: _short(value) for key, value in extra_fields(record).items() if key not in ONLY_FOR_PROGRAMS}
        is_ours = record.name.startswith("leasehold.")
        shown = {key for key, value in fields.items() if is_ours and key != "job_id" and _shows(message, key, value)}
        details = "".join(f" {key}={value}" for key, value in fields.items() if key not in shown)
        line = f"{at} {self._paint(record.levelname)} {name}: {message}{' ' + details if details else ''}"
        if record.exc_info and record.exc_info[1] is not None:
            line += "\n" + redact_dsns(self.formatException(record.exc_info))
        elif traceback := _reported_error(record).get("traceback", "").rstrip():
            line += "\n" + redact_dsns(traceback)
        return line

    def _paint(self, level: str) -> str:
        code = COLOURS.get(level)
        return f"\x1b[{code}m{level:<7}\x1b[0m" if self._has_colour and code else f"{level:<7}"


def extra_fields(record: logging.LogRecord) -> dict[str, object]:
    """What the caller passed as `extra`."""
    return {name: value for name, value in record.__dict__.items() if name not in OWN_FIELDS}


def redact_dsn(dsn: str) -> str:
    """`dsn` with every password masked. Safe on text that is no valid DSN: it masks too much rather than too little."""
    scheme, separator, rest = dsn.partition("://")
    if separator and "@" in rest:
        end = len(re.split(r"[/?#]", rest, maxsplit=1)[0])
        authority_end = end if "@" in rest[:end] else len(rest)
        credentials, _, host = rest[:authority_end].rpartition("@")
        user, colon, _ = credentials.partition(":")
        rest = f"{user}{colon}{MASK if colon else ''}@{host}{rest[authority_end:]}"
    return _SECRET_PARAMETER.sub(rf"\g<1>{MASK}", f"{scheme}{separator}{rest}")


def redact_dsns(text: str) -> str:
    """`text` with the password of every Postgres DSN in it masked."""
    if "://" not in text:
        return text
    return _DSN_IN_TEXT.sub(lambda found: redact_dsn(found.group()), text)


def escape_controls(text: str) -> str:
    """`text` with control and other unprintable characters escaped, so that data cannot drive the terminal."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _message(record: logging.LogRecord) -> str:
    try:
        text = record.getMessage()
    except Exception:  # arguments that do not fit the format
        text = f"{record.msg} {record.args!r}"
    return redact_dsns(text)


def _reported_error(record: logging.LogRecord) -> dict[str, str]:
    """The `error` in `extra`, as texts; empty where there is none."""
    error = extra_fields(record).get("error")
    reported = cast("dict[object, object]", error) if isinstance(error, dict) else {}
    return {str(name): value for name, value in reported.items() if isinstance(value, str)}


def _instant(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _shows(message: str, key: str, value: str) -> bool:
    pattern = re.escape(value)
    if value.isdigit():  # a bare number could be the same by chance
        pattern = rf"{re.escape(key.removesuffix('_id'))} {pattern}|{pattern} {re.escape(key)}"
    return re.search(rf"(?<![\w.-])({pattern})(?![\w-])", message) is not None


def _short(value: object) -> str:
    text = redact_dsns(value if isinstance(value, str) else str(value))
    return repr(text) if not text.isprintable() or " " in text or not text else text


def _encode(line: dict[str, object]) -> str:
    try:
        return msgspec.json.encode(line, enc_hook=repr).decode()
    except Exception:  # whatever a user's object does here, the line must come out
        plain = {name: _plain(value) for name, value in line.items()}
        return msgspec.json.encode(plain).decode()


def _plain(value: object) -> str:
    try:
        text = value if isinstance(value, str) else repr(value)
    except Exception:
        text = f"<{type(value).__qualname__}>"
    return text.encode("utf-8", "backslashreplace").decode()
