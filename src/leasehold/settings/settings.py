"""Every knob of leasehold: one frozen record, its allowed values, and where each value came from.

Precedence: flags > environment > file (TOML) > defaults. Within the environment our own name
(`LEASEHOLD_SLOTS`) wins over an alias (`MAX_CONCURRENT_TASKS`). An empty environment variable counts as unset.
An unknown name is refused, with the nearest known one as a suggestion. Nothing here writes to the environment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Literal, cast, get_type_hints

import msgspec
from msgspec import Meta

from leasehold.errors import BadInput, SettingsError
from leasehold.observability.logs import redact_dsn
from leasehold.settings.sources import Given, collect, environment_name
from leasehold.settings.values import NAME_IN_KUBERNETES, convert, dsn_problem
from leasehold.validation import check_queue

HIDDEN_KEYS = (
    "*password*", "*passwd*", "*passphrase*", "*secret*", "*token", "*api_key*", "*apikey*", "*private_key*",
    "*credential*", "authorization", "cookie", "set-cookie",
)  # fmt: skip
"""Patterns: `*` is anything. `*token` finds `access_token` and `accessToken`, and leaves `token_count` alone."""

HiddenKeys = Annotated[
    tuple[Annotated[str, Meta(min_length=1)], ...],
    Meta(
        description="Keys of args, outputs and metadata whose values tokens without operate do not see; * is anything."
    ),
]

HiddenKeysByKind = Annotated[
    tuple[Annotated[str, Meta(pattern=r"^[^:]+:[^:]+$")], ...],
    Meta(
        description="Keys that are hidden besides in jobs of one kind, as charge:iban, comma separated; * is anything."
    ),
]

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["auto", "text", "json"]

MASK = "***"
DSNS = ("database_url", "direct_database_url")
KIBIBYTE = 1024

FORCE_SECONDS = 5.0
LEEWAY_SECONDS = 0.5


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings. Seconds are floats, sizes are bytes.

    Built directly, only queues and the relations between fields are checked; `load_settings` checks every value.
    """

    database_url: Annotated[
        str | None,
        Meta(description="Postgres to use, postgresql://…; without it PG* variables, else embedded Postgres."),
    ] = None
    direct_database_url: Annotated[
        str | None,
        Meta(description="The same database without its pooler, for LISTEN and migrations; if a pooler is in front."),
    ] = None
    statement_seconds: Annotated[
        Annotated[float, Meta(gt=0, le=86_400)] | None,
        Meta(
            description="How long one statement may take, or the wait for a connection, of handlers, gateways, commands and"
            " awaited clients; 30 if not given, 20 in a gateway. What a worker asks for itself takes 30 at the most."
        ),
    ] = None
    data_folder: Annotated[str | None, Meta(description="Folder that holds the data of embedded Postgres.")] = None
    app: Annotated[
        Annotated[str, Meta(pattern=r"^[\w.]+:[\w.]+$", examples=["module:attribute"])] | None,
        Meta(description="Where the handlers are: module:attribute."),
    ] = None
    queues: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        Meta(description="Queues to serve, comma separated; none means all."),
    ] = ()
    worker_id: Annotated[str | None, Meta(description="Name of this worker; made up when not given.")] = None
    worker_name: Annotated[
        str | None, Meta(description="Friendly name of this worker; made from its id if not given.")
    ] = None
    host: Annotated[str | None, Meta(description="Machine, container or pod, as the fleet shows it.")] = None
    app_version: Annotated[str | None, Meta(description="Version of the handlers' code; else that of the app.")] = None
    slots: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)] | None,
        Meta(description="Jobs that one worker runs at once; 3 if not given, 20 for an app with runs='asyncio'."),
    ] = None
    workers: Annotated[
        int, Meta(ge=1, le=100, description="Worker processes that `leasehold run worker` keeps running.")
    ] = 1

    lease_seconds: Annotated[
        float, Meta(ge=1, le=86_400, description="How long a claim holds a job before others may take it.")
    ] = 60.0
    renew_seconds: Annotated[
        float,
        Meta(gt=0, le=43_200, description="How often a lease is renewed; below half the lease. A third if not given."),
    ] = 20.0
    retry_initial_seconds: Annotated[
        float,
        Meta(ge=0, le=31_536_000, description="Back-off after a first failed attempt, of kinds without their own."),
    ] = 10.0
    retry_multiplier: Annotated[
        float,
        Meta(ge=1, le=1_000, description="How much longer each further back-off may be, of kinds without their own."),
    ] = 2.0
    retry_cap_seconds: Annotated[
        float, Meta(ge=0, le=31_536_000, description="The longest back-off of kinds without their own.")
    ] = 300.0
    retry_step_seconds: Annotated[
        Annotated[float, Meta(ge=0, le=31_536_000)] | None,
        Meta(description="How much longer each back-off is than the one before, instead of initial and multiplier."),
    ] = None
    session_grace_seconds: Annotated[
        float,
        Meta(
            ge=0, le=86_400, description="How long after a lease's end a session may hold its job's row; 0: for ever."
        ),
    ] = 5.0
    poll_seconds: Annotated[
        float,
        Meta(
            gt=0,
            le=3_600,
            description="Longest wait between two looks for work when no wake-up comes; over 32 idle workers take turns.",
        ),
    ] = 5.0
    heartbeat_seconds: Annotated[float, Meta(gt=0, le=3_600, description="How often a worker says that it lives.")] = (
        30.0
    )
    memory_backoff: Annotated[
        float, Meta(gt=0, le=1, description="Share of memory above which a worker stops claiming; 1 for never.")
    ] = 0.85
    cpu_backoff: Annotated[
        float, Meta(gt=0, le=1, description="Share of CPU above which a worker stops claiming; 1 for never.")
    ] = 0.90
    backoff_seconds: Annotated[
        float, Meta(gt=0, le=3_600, description="Wait before a worker that stopped claiming looks again.")
    ] = 10.0
    notify: Annotated[bool, Meta(description="Use LISTEN/NOTIFY; off means polling only.")] = True
    drain_seconds: Annotated[
        float, Meta(ge=0, le=86_400, description="How long a stopping worker waits for its running jobs.")
    ] = 30.0
    stop_seconds: Annotated[
        Annotated[float, Meta(ge=2, le=86_400)] | None,
        Meta(description="Seconds from SIGTERM until somebody kills this process; draining ends early enough before."),
    ] = None
    probe_port: Annotated[
        Annotated[int, Meta(ge=0, le=65_535)] | None,
        Meta(description="Port for /livez, /readyz, /startupz and /metrics; none by default, 0 picks one."),
    ] = None
    probe_host: Annotated[str, Meta(min_length=1, description="Address that the probes bind.")] = "127.0.0.1"
    probe_stale_seconds: Annotated[
        float, Meta(gt=0, le=86_400, description="For how long a blocked event loop counts as alive.")
    ] = 30.0
    retention_days: Annotated[int, Meta(ge=1, le=3_650, description="Days that finished jobs are kept.")] = 14

    payloads_store: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(
            description="Where payloads lie: a folder that all processes share, or s3://bucket/prefix. None if not given."
        ),
    ] = None
    payloads_limit_bytes: Annotated[
        int, Meta(ge=1, le=1 << 40, description="The largest payload, in bytes before compression.")
    ] = 2 << 30
    payloads_claim_bytes: Annotated[
        int,
        Meta(
            ge=1_024, le=1_048_576, description="Larger args and outputs of jobs go to the payload store by themselves."
        ),
    ] = 262_144
    payloads_retention_days: Annotated[int, Meta(ge=1, le=3_650, description="Days that payloads are kept.")] = 30

    log_level: Annotated[LogLevel, Meta(description="Least severe log line to show: debug, info, warning, error.")] = (
        "info"
    )
    log_format: Annotated[
        LogFormat, Meta(description="text, json, or auto: text on a terminal and JSON lines elsewhere.")
    ] = "auto"

    gateway_host: Annotated[str, Meta(min_length=1, description="Address that the gateway binds.")] = "127.0.0.1"
    gateway_port: Annotated[int, Meta(ge=0, le=65_535, description="Port of the gateway; 0 picks a free one.")] = 8420
    gateway_token: Annotated[
        str | None, Meta(description="Access token that the gateway asks for; needed off loopback.")
    ] = None
    gateway_cors_origins: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        Meta(description="Origins whose web pages may call the gateway, comma separated; * for all; none by default."),
    ] = ()
    gateway_hidden_keys: HiddenKeys = HIDDEN_KEYS
    gateway_hidden_keys_by_kind: HiddenKeysByKind = ()
    gateway_prefix: Annotated[
        str,
        Meta(
            pattern=r"^(/[A-Za-z0-9._~-]+)*$",
            examples=["/ops"],
            description="Path under which a proxy shows the gateway; else X-Forwarded-Prefix says it.",
        ),
    ] = ""
    gateway_session_seconds: Annotated[
        float, Meta(ge=1, le=2_592_000, description="How long a browser stays signed in to the dashboard.")
    ] = 43_200.0
    k8s_namespace: Annotated[
        Annotated[str, Meta(pattern=NAME_IN_KUBERNETES, examples=["shop"])] | None,
        Meta(description="Namespace of the workers' StatefulSet; that of the gateway's pod if not given."),
    ] = None
    k8s_worker_statefulset: Annotated[
        Annotated[str, Meta(pattern=NAME_IN_KUBERNETES, examples=["leasehold-worker"])] | None,
        Meta(description="StatefulSet of the workers, which the gateway may then scale; none if not given."),
    ] = None
    k8s_min_replicas: Annotated[
        int, Meta(ge=0, le=10_000, description="Fewest pods of workers that anybody may ask for.")
    ] = 0
    k8s_max_replicas: Annotated[
        int, Meta(ge=0, le=10_000, description="Most pods of workers that anybody may ask for.")
    ] = 20
    max_body_bytes: Annotated[int, Meta(ge=1_024, description="Largest HTTP body that the gateway reads.")] = (
        1_024 + 64
    ) * KIBIBYTE
    max_args_bytes: Annotated[int, Meta(ge=2, description="Largest args of one job, as JSON.")] = 1_024 * KIBIBYTE
    max_json_depth: Annotated[int, Meta(ge=1, le=1_000, description="Deepest nesting of JSON that is let in.")] = 100

    def __post_init__(self) -> None:
        for queue in self.queues:
            try:
                check_queue("each of them", queue)
            except BadInput as error:
                raise SettingsError(f"queues = {show_value('queues', self.queues)} is refused: {error}") from error
        if self.renew_seconds >= self.lease_seconds / 2:
            half = f"half of lease_seconds = {self.lease_seconds:g}"
            raise SettingsError(f"renew_seconds = {self.renew_seconds:g} must be less than {half}")
        if self.k8s_min_replicas > self.k8s_max_replicas:
            most = f"k8s_max_replicas = {self.k8s_max_replicas}"
            raise SettingsError(f"k8s_min_replicas = {self.k8s_min_replicas} must not be more than {most}")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={show_value(name, getattr(self, name))}" for name in self.__struct_fields__)
        return f"Settings({shown})"


class ExplainedSetting(msgspec.Struct, frozen=True, kw_only=True):
    """One effective setting: its value as text (secrets masked), who gave it, and its environment variable."""

    name: str
    value: str
    origin: str
    variable: str


TYPES: Mapping[str, object] = get_type_hints(Settings, include_extras=True)


def load_settings(flags: Mapping[str, object | None], environ: Mapping[str, str], file: Path | None = None) -> Settings:
    """The effective settings. `flags` maps setting names to values, None meaning "not given".

    Raises SettingsError for an unknown name, a value out of range, or a file that cannot be read.
    """
    return _build(_collect(flags, environ, file))


def explain(
    flags: Mapping[str, object | None], environ: Mapping[str, str], file: Path | None = None
) -> list[ExplainedSetting]:
    """Every effective setting with its origin; passwords and tokens are masked. Raises as `load_settings` does."""
    given = _collect(flags, environ, file)
    settings = _build(given)
    return [
        ExplainedSetting(
            name=name,
            value=show_value(name, getattr(settings, name)),
            origin=given[name].origin if name in given else "default",
            variable=environment_name(name),
        )
        for name in Settings.__struct_fields__
    ]


def describe_setting(name: str) -> str:
    """One sentence on a setting, for help texts."""
    for part in getattr(TYPES[name], "__metadata__", ()):
        if isinstance(part, Meta) and part.description:
            return part.description
    return ""


def show_value(name: str, value: object) -> str:
    """`value` as text that may be shown: passwords and tokens are masked."""
    if value is None:
        return "-"
    if name == "gateway_token":
        return MASK
    if name in DSNS:
        return redact_dsn(str(value)) or "(PG* variables)"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple | list):
        listed = "(the usual ones)" if value is HIDDEN_KEYS else ",".join(map(str, cast("tuple[object, ...]", value)))
        return listed or ("(none)" if name.startswith("gateway_") else "(all)")
    return f"{value:g}" if isinstance(value, float) else str(value)


def _collect(flags: Mapping[str, object], environ: Mapping[str, str], file: Path | None) -> dict[str, Given]:
    given = collect(Settings.__struct_fields__, flags, environ, file)
    if flags.get("database_url") is not None and flags.get("direct_database_url") is None:
        given.pop("direct_database_url", None)  # it leads to another database than the one that the flag names
    if "lease_seconds" in given and "renew_seconds" not in given:
        lease = convert(
            "lease_seconds", given["lease_seconds"], TYPES["lease_seconds"], _show_with_type(given["lease_seconds"])
        )
        given["renew_seconds"] = Given(float(str(lease)) / 3, "a third of lease_seconds")
    return given


def _show_with_type(given: Given) -> Callable[[object], str]:
    """Text of a file stands in quotes, which may be what is wrong with it; the environment has nothing but text."""
    return str if given.is_text else repr


def _build(given: Mapping[str, Given]) -> Settings:
    values = {
        name: convert(name, each, TYPES[name], lambda value, name=name: repr(show_value(name, value)))
        for name, each in given.items()
    }
    for name in DSNS:
        problem = dsn_problem(str(values.get(name) or ""))
        if problem:
            raise SettingsError(f"{name} (from {given[name].origin}) {problem}")
    if values.get("direct_database_url") and values.get("database_url") is None:
        raise SettingsError("direct_database_url names the same database as database_url, which is not given")
    try:
        return Settings(**values)  # pyright: ignore[reportArgumentType]
    except SettingsError as error:
        wrong = [name for name in Settings.__struct_fields__ if name in given and f"{name} = " in str(error)]
        origins = [f"{name} from {given[name].origin}" for name in wrong]
        raise SettingsError(f"{error} ({', '.join(origins)})") from error


def seconds_to_stop(settings: Settings) -> tuple[float, float]:
    """For draining, and for handing back what did not end meanwhile.

    Both fit into `stop_seconds`, after which somebody kills the process: a job that is not handed back by then is charged
    with the death of its process.
    """
    if settings.stop_seconds is None:
        return settings.drain_seconds, FORCE_SECONDS
    total = settings.stop_seconds - LEEWAY_SECONDS
    force = min(FORCE_SECONDS, total / 2)
    return min(settings.drain_seconds, total - force), force
