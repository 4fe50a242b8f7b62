"""Kinds, as the catalogue has them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class KindConflict(msgspec.Struct, frozen=True, kw_only=True):
    """Another version of an app that says something else of a kind.

    Attributes:
        app, app_version: which; None where nobody said.
        declared_at: when a process last said it.
        fields: what it says differently.
        workers: how many live ones run that version.
    """

    app: str | None
    app_version: str | None
    declared_at: datetime
    fields: list[str]
    workers: int


class KindRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A kind that an app has declared: what its jobs get where nothing is said. None: the database's default.

    Attributes:
        timeout: seconds that its handler may run; the worker keeps it.
        deadline: seconds after which an unfinished job fails.
        retry: its back-off (initial, multiplier, cap); that of the worker where None.
        unique: which jobs count as equal.
        key, key_group: where in the args a job's own are, such as `args.order_id`.
        checks_args: whether enqueueing refuses args that do not fit `args_schema`.
        args_schema, output_schema: JSON Schemas; None where there is none.
        app, app_version: who says so; None where nobody said.
        declared_at: when a process of that version last said so.
        conflicts: other versions that say something else.
        workers: how many live ones serve it; 0 where no app has it any more, or none runs.
    """

    kind: str
    queue: str | None
    priority: int | None
    max_attempts: int | None
    timeout: float | None
    deadline: float | None
    retry: dict[str, Any] | None
    unique: dict[str, Any] | None
    key: str | None
    key_group: str | None
    checks_args: bool
    args_schema: dict[str, Any] | None
    output_schema: dict[str, Any] | None
    app: str | None
    app_version: str | None
    declared_at: datetime
    conflicts: list[KindConflict]
    workers: int = 0


class DeclaredKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind after it was declared; `outcome` is created, changed, unchanged, or older: another version wins."""

    kind: str
    outcome: str


class DroppedKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind that was taken out of the catalogue."""

    kind: str
