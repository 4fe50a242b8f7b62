"""What the environment tells about the place a process runs in, besides settings.

Kubernetes gives each container variables for each Service of its namespace: a Service called `leasehold-gateway` makes
`LEASEHOLD_GATEWAY_SERVICE_HOST`, `LEASEHOLD_GATEWAY_PORT=tcp://10.0.0.1:80` and more of them. They look like settings and
are none. What starts the processes of a Procfile kills them a fixed time after it has asked them to stop.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

SERVICE_NAME = re.compile(r"_SERVICE_HOST|_SERVICE_PORT(_\w+)?|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?")
SERVICE_ADDRESS = re.compile(r"(tcp|udp|sctp)://\S+")

LAUNCHERS: Mapping[str, tuple[re.Pattern[str], float]] = {
    "HONCHO_PROCESS_NAME": (re.compile(r".+"), 5.0),
    "PS": (re.compile(r"\w+\.\d+"), 5.0),  # foreman
    "DYNO": (re.compile(r"\w+\.\d+"), 30.0),  # Heroku
}
"""By the variable that they set: after how many seconds they kill a process that they have asked to stop."""


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
