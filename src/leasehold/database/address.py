"""What the address of a database says, read once and put into the words that asyncpg takes.

libpq defines the parameters (https://www.postgresql.org/docs/current/libpq-connect.html); asyncpg knows most, sends every
other one to the server as a setting of the session, and says of some that are wrong only that they are. So what is wrong
for ever is found here, with the name of the parameter and of the file; what asyncpg cannot do is left out with a warning.
"""

from __future__ import annotations

import getpass
import logging
import os
import ssl
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from leasehold.errors import WrongAddress

log = logging.getLogger(__name__)

CHOICES = {
    "sslmode": ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    "target_session_attrs": ("any", "read-write", "read-only", "primary", "standby", "prefer-standby"),
}
FILES = {"sslrootcert": "root.crt", "sslcert": "postgresql.crt", "sslkey": "postgresql.key", "sslcrl": "root.crl"}
"""Parameters that name a file, and the file in `~/.postgresql` that is taken where one does not."""

OF_THE_SERVER = frozenset({"sslrootcert", "sslcrl"})
LEFT_OUT = frozenset({
    "channel_binding", "client_encoding", "fallback_application_name", "gssdelegation", "gssencmode", "keepalives",
    "keepalives_count", "keepalives_idle", "keepalives_interval", "load_balance_hosts", "max_protocol_version",
    "min_protocol_version", "pgbouncer", "replication", "require_auth", "requirepeer", "requiressl", "sslcertmode",
    "sslcompression", "sslsni", "tcp_user_timeout", "uselibpqcompat",
})  # fmt: skip
"""Parameters of libpq, and two that providers print, without which a connection is made as well."""
HOST_SECONDS = 10.0
ENCODE = "in a password, / ? # @ and % must be percent-encoded"


class ReadAddress(NamedTuple):
    """Where to connect, and how.

    Attributes:
        dsn: what is left of the address for asyncpg.
        places: a dictionary of further arguments for each host, to be tried in this order.
        seconds: for which each of them is waited for; None: nobody said.
        hosts: those that are no folder of a socket, with their ports; none where nobody named a host.
    """

    dsn: str
    places: list[dict[str, Any]]
    seconds: float | None
    hosts: list[tuple[str, int]]


def read_address(dsn: str) -> ReadAddress:
    """Read an address, and what the PG… variables say of the same. An empty one leaves everything to these.

    Raises WrongAddress where no time and no server could make it right.
    """
    try:
        parts = urlsplit(dsn)
    except ValueError as error:
        raise WrongAddress(f"the address of the database is wrong: {error}") from None
    if parts.netloc.count("@") > 1:
        raise WrongAddress(f"the address of the database has more than one @ before its path; {ENCODE}")
    params = dict(parse_qsl(parts.query, keep_blank_values=True))
    _check_user(parts.username or params.get("user"), params.get("service"))
    for name, choices in CHOICES.items():
        value = _setting(params, name)
        if value and value not in choices:
            raise WrongAddress(f"{name}={value}: it is one of {', '.join(choices)}")
    seconds = _seconds(params)
    for name in sorted(LEFT_OUT & params.keys()):
        _warn_once(f"{name}={params.pop(name)} in the address of the database has no effect here and is left out")
    hosts = _hosts(params.get("host") or unquote(parts.netloc.rpartition("@")[2]) or os.environ.get("PGHOST", ""))
    ports = [_port(each or "5432") for each in (params.get("port") or os.environ.get("PGPORT") or "5432").split(",")]
    listed = [(host, port or ports[at % len(ports)]) for at, (host, port) in enumerate(hosts)]
    tcp = [(host, port) for host, port in listed if host and not host.startswith("/")]
    common: dict[str, Any] = {}
    if _setting(params, "sslrootcert") == "system":
        if _setting(params, "sslmode") not in (None, "", "verify-full"):
            raise WrongAddress("sslrootcert=system goes with sslmode=verify-full alone")
        params.pop("sslrootcert", None)
        params.pop("sslmode", None)
        common["ssl"] = ssl.create_default_context()
    else:
        is_encrypted = _setting(params, "sslmode") or not all(host.startswith("/") for host, _ in hosts)
        _check_files(params, has_defaults=bool(is_encrypted) and _setting(params, "sslmode") != "disable")
    places = [common]
    if len(hosts) > 1:
        attributes = _setting(params, "target_session_attrs") or "any"
        rounds = ("standby", "any") if attributes == "prefer-standby" else (attributes,)
        places = [
            common | {"host": host, "port": port, "target_session_attrs": each}
            for each in rounds
            for host, port in listed
        ]
        seconds = seconds or HOST_SECONDS
    return ReadAddress(dsn.partition("?")[0] + (f"?{urlencode(params)}" if params else ""), places, seconds, tcp)


def _setting(params: dict[str, str], name: str) -> str | None:
    return params.get(name) or os.environ.get("PG" + name.replace("_", "").upper())


def _seconds(params: dict[str, str]) -> float | None:
    """As libpq has it: whole seconds, at least two; 0 and less wait without end, which here is as long as for a statement."""
    value = params.pop("connect_timeout", "") or os.environ.get("PGCONNECT_TIMEOUT", "")
    if not value:
        return None
    with suppress(ValueError):
        return max(2.0, float(int(value))) if int(value) > 0 else None
    raise WrongAddress(f"connect_timeout={value}: it is a number of whole seconds")


def _check_user(user: str | None, service: str | None) -> None:
    if not (user or service or os.environ.get("PGUSER") or os.environ.get("PGSERVICE")):
        try:
            getpass.getuser()
        except (KeyError, OSError):  # as in a container that runs under any number
            raise WrongAddress(
                f"the address of the database names no user, and this process runs as one without a name ({os.getuid()})"
            ) from None


def _check_files(params: dict[str, str], *, has_defaults: bool) -> None:
    verifies = (_setting(params, "sslmode") or "") in {"require", "verify-ca", "verify-full"}
    for name, default in FILES.items():
        path = _setting(params, name)
        if not path and has_defaults and (verifies or name not in OF_THE_SERVER):
            _check_default(os.path.join(os.path.expanduser("~"), ".postgresql", default))
        try:
            if path:
                with open(path, "rb") as file:
                    file.read(1)
        except OSError as error:
            raise WrongAddress(f"{name}={path}: {error.strerror}") from error
    root, certificate = _setting(params, "sslrootcert"), _setting(params, "sslcert")
    try:
        if root:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(root)
    except ssl.SSLError as error:
        raise WrongAddress(f"sslrootcert={root}: this file has no certificates ({error.reason})") from error
    key = _setting(params, "sslkey")
    try:
        if certificate:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(certificate, key, params.get("sslpassword", ""))
    except ssl.SSLError as error:
        raise WrongAddress(f"sslcert={certificate}, sslkey={key}: they are no pair ({error.reason})") from error


def _check_default(path: str) -> None:
    try:
        with open(path, "rb"):
            return
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        advice = "set HOME to a folder that this user may read, or say sslmode=disable"
        raise WrongAddress(f"{path}: {error.strerror}; {advice}") from error


def _hosts(listed: str) -> list[tuple[str, int | None]]:
    """Each host with its port, if it has one. A path is the folder of a socket, and brackets hold an IPv6 address."""
    found: list[tuple[str, int | None]] = []
    for each in listed.split(","):
        host, colon, port = each.rpartition(":")
        if each.startswith("/") or not colon or each.endswith("]"):
            host, port = each, ""
        try:
            found.append((host.strip("[]"), _port(port) if port else None))
        except WrongAddress:  # which may show a part of the password
            raise WrongAddress(f"the port of a host is no number from 1 to 65535; {ENCODE}") from None
    return found


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise WrongAddress(f"port={text}: it is a number from 1 to 65535")
    return int(text)


@cache
def _warn_once(text: str) -> None:
    log.warning("%s", text)
