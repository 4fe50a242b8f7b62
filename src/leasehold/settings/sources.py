"""Where settings come from: flags, environment, file. Finds the raw values; judges names, not values.

The environment also tells about the place a process runs in. Kubernetes gives each container variables for each Service of its
namespace: a Service called `leasehold-gateway` makes `LEASEHOLD_GATEWAY_SERVICE_HOST`, `LEASEHOLD_GATEWAY_PORT=tcp://10.0.0.1:80`
and more of them. They look like settings and are none. What starts the processes of a Procfile kills them a fixed time after it
has asked them to stop.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from leasehold.errors import SettingsError

SERVICE_NAME = re.compile(r"_SERVICE_HOST|_SERVICE_PORT(_\w+)?|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?")
SERVICE_ADDRESS = re.compile(r"(tcp|udp|sctp)://\S+")

LAUNCHERS: Mapping[str, tuple[re.Pattern[str], float]] = {
    "HONCHO_PROCESS_NAME": (re.compile(r".+"), 5.0),
    "PS": (re.compile(r"\w+\.\d+"), 5.0),  # foreman
    "DYNO": (re.compile(r"\w+\.\d+"), 30.0),  # Heroku
}
"""By the variable that they set: after how many seconds they kill a process that they have asked to stop."""

PREFIX = "LEASEHOLD_"
CONFIG_VARIABLE = "LEASEHOLD_CONFIG"
DEFAULT_FILE = "leasehold.toml"
MILLISECONDS = 0.001

# Any of these says that the caller means a server of their own; asyncpg then reads all of PG* by itself.
POSTGRES_VARIABLES = ("PGHOST", "PGPORT", "PGDATABASE", "PGSERVICE")


def is_of_service(variable: str, value: str, prefix: str) -> bool:
    """Whether Kubernetes made this variable, of names that begin with `prefix`, for a Service."""
    if not variable.startswith(prefix):
        return False
    name = "_" + variable.removeprefix(prefix)
    is_address = name.endswith("_PORT") and SERVICE_ADDRESS.fullmatch(value) is not None
    return is_address or any(found.end() == len(name) for found in SERVICE_NAME.finditer(name))


def variables_of_services(environ: Mapping[str, str], prefix: str) -> tuple[str, ...]:
    """The variables that Kubernetes made for Services and that could be taken for settings with this prefix."""
    return tuple(sorted(name for name, value in environ.items() if is_of_service(name, value, prefix)))


def launcher_of(environ: Mapping[str, str]) -> tuple[str, float] | None:
    """The variable that tells who started this process from a Procfile, and the seconds from SIGTERM to SIGKILL."""
    for variable, (pattern, seconds) in LAUNCHERS.items():
        if pattern.fullmatch(environ.get(variable, "")):
            return variable, seconds
    return None


def ends_others(environ: Mapping[str, str]) -> bool:
    """Whether this is one of the processes of a Procfile that are stopped together when one of them ends."""
    launcher = launcher_of(environ)
    return launcher is not None and launcher[0] != "DYNO"


class Alias(msgspec.Struct, frozen=True):
    """A foreign environment variable that sets one of our settings; `scale` turns its unit into ours."""

    variable: str
    scale: float | None = None


ALIASES: Mapping[str, tuple[Alias, ...]] = {
    "database_url": (Alias("DATABASE_URL"),),
    "gateway_port": (Alias("PORT"),),
    "queues": (Alias("WORKER_ROLE"),),
    "worker_id": (Alias("WORKER_ID"),),
    "host": (Alias("POD_NAME"), Alias("HOSTNAME")),
    "slots": (Alias("MAX_CONCURRENT_TASKS"),),
    "poll_seconds": (Alias("POLL_INTERVAL_MS", MILLISECONDS),),
    "heartbeat_seconds": (Alias("HEARTBEAT_INTERVAL_MS", MILLISECONDS),),
    "memory_backoff": (Alias("MEMORY_BACKOFF_THRESHOLD"),),
    "cpu_backoff": (Alias("CPU_BACKOFF_THRESHOLD"),),
    "k8s_namespace": (Alias("K8S_NAMESPACE"),),
    "k8s_worker_statefulset": (Alias("K8S_WORKER_STATEFULSET"),),
    "backoff_seconds": (Alias("BACKOFF_DURATION_MS", MILLISECONDS),),
}


class Given(msgspec.Struct, frozen=True):
    """A raw value and the place that gave it. `scale` multiplies a number; `is_text` marks unparsed text."""

    value: object
    origin: str
    is_text: bool = False
    scale: float | None = None


def environment_name(setting: str) -> str:
    """Our own environment variable for `setting`, e.g. `LEASEHOLD_SLOTS`."""
    return PREFIX + setting.upper()


def flag_name(setting: str) -> str:
    """The command-line flag for `setting`, e.g. `--lease-seconds`; the gateway's are short, `--port`."""
    return "--" + setting.removeprefix("gateway_").replace("_", "-")


def collect(
    names: Iterable[str], flags: Mapping[str, object], environ: Mapping[str, str], file: Path | None
) -> dict[str, Given]:
    """The winning raw value of each setting that any source gives; those left out keep their defaults.

    A flag that names the data folder of embedded Postgres means that one, whatever database the environment or the file names.

    Raises SettingsError for an unknown name, an unreadable file, or flags that name two databases.
    """
    known = tuple(names)
    found = from_file(known, file_to_read(environ, file))
    found.update(from_environment(known, environ))
    named = from_flags(known, flags)
    if {"data_folder", "database_url"} <= named.keys():
        raise SettingsError("--data-folder and --database-url name two databases: give one of them")
    if "data_folder" in named:
        for name in ("database_url", "direct_database_url"):
            found.pop(name, None)
    return found | named


def from_flags(known: tuple[str, ...], flags: Mapping[str, object]) -> dict[str, Given]:
    """Flags that are set; None means "not given". Text is parsed as the environment's is."""
    for name in flags:
        if name not in known:
            raise SettingsError(f"unknown setting {name!r} among the flags{suggest(name, known)}")
    given = {name: value for name, value in flags.items() if value is not None}
    return {name: Given(value, f"flag {flag_name(name)}", isinstance(value, str)) for name, value in given.items()}


def from_environment(known: tuple[str, ...], environ: Mapping[str, str]) -> dict[str, Given]:
    """Settings in the environment: our own names first, then aliases, then PG* for the database, then what the launcher of a
    Procfile tells. Variables that Kubernetes makes for Services are none."""
    injected = variables_of_services(environ, PREFIX)
    environ = {name: value for name, value in environ.items() if name not in injected}
    refuse_unknown_variables(known, environ)
    found: dict[str, Given] = {}
    for name in known:
        for alias in (Alias(environment_name(name)), *ALIASES.get(name, ())):
            if name not in found and environ.get(alias.variable):
                found[name] = Given(environ[alias.variable], f"environment {alias.variable}", True, alias.scale)
    postgres = [variable for variable in POSTGRES_VARIABLES if environ.get(variable)]
    if postgres and "database_url" in known and "database_url" not in found:
        found["database_url"] = Given("", f"environment {postgres[0]}")
    launcher = launcher_of(environ)
    if launcher is not None and "stop_seconds" in known and "stop_seconds" not in found:
        found["stop_seconds"] = Given(launcher[1], f"environment {launcher[0]}")
    return found


def refuse_unknown_variables(known: tuple[str, ...], environ: Mapping[str, str]) -> None:
    """Raise SettingsError for a `LEASEHOLD_…` variable that is no setting (`LEASEHOLD_TEST_…` is for tests), and for one that
    names no border to asyncio, which is read where it is needed."""
    ours = {environment_name(name) for name in known} | {CONFIG_VARIABLE}
    for variable in environ:
        if variable.startswith(PREFIX) and not variable.startswith(PREFIX + "TEST_") and variable not in ours:
            raise SettingsError(f"unknown setting {variable} in the environment{suggest(variable, ours)}")


def file_to_read(environ: Mapping[str, str], file: Path | None) -> Path | None:
    """The file named by the caller or by LEASEHOLD_CONFIG (then it must exist), or ./leasehold.toml if it is there."""
    named = file or environ.get(CONFIG_VARIABLE)
    if named:
        return Path(named)
    return Path(DEFAULT_FILE) if Path(DEFAULT_FILE).is_file() else None


def from_file(known: tuple[str, ...], file: Path | None) -> dict[str, Given]:
    """Settings in a TOML file of flat `name = value` lines."""
    if file is None:
        return {}
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read the settings file {file}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"the settings file {file} is no valid TOML: {error}") from error
    for name in content:
        if name not in known:
            raise SettingsError(f"unknown setting {name!r} in {file}{suggest(name, known)}")
    return {name: Given(value, f"file {file}") for name, value in content.items()}


def suggest(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?` for the nearest known name, or nothing."""
    nearest = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean {nearest[0]}?" if nearest else ""
