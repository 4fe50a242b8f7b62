"""Egress identities as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.views.durations import show_span
from leasehold.cli.views.text import ago, plain, table
from leasehold.records.identities import IdentityRecord

STATE_STYLES = {"ready": "green", "leased": "cyan", "cooling": "yellow", "retired": "dim"}


class AddedIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """An identity that was added or changed."""

    identity_id: int
    name: str


class RetiredIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """An identity after `egress retire`; `changed` is false if it had retired before."""

    name: str
    changed: bool


class TestedIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What a server answered under an identity; `status` None: its proxy did not answer."""

    name: str
    url: str
    status: int | None
    seconds: float
    problem: str | None
    state: str


def view_added(report: AddedIdentity, _now: datetime) -> Sequence[RenderableType]:
    """What to do next."""
    return [plain(f"egress identity {report.name} is there; try it:  leasehold egress test {report.name} URL")]


def view_retired(report: RetiredIdentity, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    return [plain(f"egress identity {report.name} {'is' if report.changed else 'was already'} retired")]


def view_tested(report: TestedIdentity, _now: datetime) -> Sequence[RenderableType]:
    """One sentence, with the state that the identity has now."""
    answer = f"answered {report.status}" if report.status is not None else f"did not answer: {report.problem}"
    said = f"{report.name}: {report.url} {answer} after {report.seconds:.2f} s; the identity is {report.state}"
    return [plain(said, STATE_STYLES.get(report.state, ""))]


def view_identities(identities: list[IdentityRecord], now: datetime) -> Sequence[RenderableType]:
    """One line each."""
    heads = ["name", "state", "proxy", "locale", "zone", "uses", "refused", "in a row", "last used", "note"]
    return [table(heads, [_row(each, now) for each in identities], right=["uses", "refused", "in a row"])]


def _row(identity: IdentityRecord, now: datetime) -> list[RenderableType | str]:
    user = "" if identity.proxy_user is None else f" as {identity.proxy_user}"
    return [
        plain(identity.name),
        Text(identity.state, STATE_STYLES[identity.state]),
        plain("none" if identity.proxy is None else identity.proxy + user),
        identity.locale,
        identity.time_zone,
        f"{identity.uses:,}",
        f"{identity.refusals_total:,}",
        f"{identity.refusals} of {identity.retire_after}",
        "never" if identity.used_at is None else ago(identity.used_at, now),
        plain(_note(identity)),
    ]


def _note(identity: IdentityRecord) -> str:
    match identity.state:
        case "retired":
            return identity.retire_reason or ""
        case "cooling":
            return f"for {show_span(identity.cools_for or 0.0)}"
        case "leased":
            return "by hand" if identity.leased_job is None else f"by job {identity.leased_job}"
        case _:
            return ""
