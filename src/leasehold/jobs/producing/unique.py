"""Which jobs count as the same, and what happens to the second one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal, Self, cast, get_args

import msgspec

from leasehold import validation
from leasehold.errors import BadInput

OnConflict = Literal["existing", "reject", "replace", "extend", "overwrite"]

QUEUED = ("pending", "scheduled", "waiting", "blocked")
"""The states of a job that has not started; a job moves between them by itself."""
UNFINISHED = (*QUEUED, "claimed", "running")
ANY_STATE = (*UNFINISHED, "completed", "failed", "cancelled")

PARTS = ("kind", "queue", "key", "key_group", "args")
SCOPES = ("job", "chain")
CONFLICTS = get_args(OnConflict)
MOST_ID = 2**63 - 1


class Unique(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """At most one job with the same `by` or `key`, kept by a unique index of the database.

    Attributes:
        by: what two equal jobs have in common: `kind`, `queue`, `key`, `key_group`, `args`, or `args.NAME` for one of the
            args; kind and all args if not given.
        key: text that stands for the job, instead of `by`. Jobs of different kinds with the same text are equal.
        window: seconds or timedelta; jobs enqueued longer ago do not count.
        states: jobs in other states do not count. `UNFINISHED` (the default), `QUEUED`, `ANY_STATE`, or a list that contains
            all of `QUEUED`.
        scope: `job`: the state of the job counts. `chain`: the state of the chain that the job began.
        exclude: ids of chains that do not count, such as its own when a job starts its successor.
        on_conflict: what happens if an equal job exists. `existing` returns its id, `reject` raises `UniqueConflict`,
            `replace` gives it the new args (and priority and metadata where given), `extend` gives it the new `run_at`,
            `overwrite` does both. A job that a worker holds does not change.

    Raises:
        BadInput: `by` and `key` are both given, `window` is not more than 0, or a value does not exist.
    """

    by: Sequence[str] | None = None
    key: str | None = None
    window: float | timedelta | None = None
    states: Sequence[str] | None = None
    scope: Literal["job", "chain"] = "job"
    exclude: Sequence[int] = ()
    on_conflict: OnConflict = "existing"

    def __post_init__(self) -> None:
        if self.by is not None and self.key is not None:
            raise BadInput("unique takes by or key, not both")
        if isinstance(self.by, str) or isinstance(self.states, str):
            raise BadInput(
                f"by and states are lists of names, not {self.by if isinstance(self.by, str) else self.states!r}"
            )
        seconds = None if self.window is None else validation.seconds("unique.window", self.window)
        msgspec.structs.force_setattr(self, "window", seconds)
        if seconds is not None and not 0 < seconds <= validation.LONGEST_TIME:
            raise BadInput(f"window must be more than 0 seconds, not {self.window}")
        if self.key is not None and not isinstance(cast("object", self.key), str):
            raise validation.refusal("unique.key", "text", self.key)
        validation.check_choice("unique.scope", self.scope, SCOPES)
        validation.check_choice("unique.on_conflict", self.on_conflict, CONFLICTS)
        if self.by is not None:
            _check_by(self.by)
        if self.states is not None:
            _check_states(self.states)
        for chain_id in validation.items("unique.exclude", self.exclude, "ids of chains"):
            validation.check_integer("unique.exclude", chain_id, 0, MOST_ID)

    @classmethod
    def debounce(cls, by: Sequence[str] | None = None, *, key: str | None = None) -> Self:
        """A job that starts when nobody has asked for it for a while. Give the job a `delay`: that is the while.

        Each further job that is enqueued before it has started moves it on and gives it the newest args. Once it has
        started, the next one is a new job.

        Args:
            by: as the attribute.
            key: as the attribute.
        """
        return cls(by=by, key=key, states=QUEUED, on_conflict="overwrite")

    @classmethod
    def throttle(cls, window: float | timedelta, by: Sequence[str] | None = None, *, key: str | None = None) -> Self:
        """At most one job in a window of time, whatever has become of it; others get the id of that one.

        Args:
            window: seconds or timedelta, from when the job was enqueued; longer than `retention_days` has no further effect.
            by: as the attribute.
            key: as the attribute.
        """
        return cls(by=by, key=key, window=window, states=ANY_STATE)

    def args_fields(self) -> list[str]:
        """The names of the args that `by` lists one by one."""
        return [part.removeprefix("args.") for part in self.by or () if part.startswith("args.")]


def _check_by(by: object) -> None:
    parts = validation.items("unique.by", by, 'names such as ["kind", "args.shop_id"]')
    if not parts:
        raise validation.refusal("unique.by", 'a list such as ["kind", "args.shop_id"]', by)
    for part in parts:
        if part not in PARTS and not (isinstance(part, str) and part.startswith("args.") and part != "args."):
            raise BadInput(f"unique.by takes kind, queue, key, key_group, args and args.FIELD, not {part!r:.100}")


def _check_states(states: object) -> None:
    names = validation.items("unique.states", states, "states")
    for state in names:
        validation.check_choice("unique.states", state, ANY_STATE)
    if missing := [state for state in QUEUED if state not in names]:
        raise BadInput(
            f"unique.states must have {', '.join(QUEUED)}, between which a job moves by itself; there is no {missing[0]}"
        )


class UniqueByDefault(Unique, frozen=True, kw_only=True, omit_defaults=True):
    """The `unique` of a kind, for its jobs that have none; a job that continues a chain drops it."""


def by_default(unique: Unique | None) -> UniqueByDefault | None:
    """The `unique` of a kind in the form that its jobs get."""
    return None if unique is None else UniqueByDefault(**msgspec.structs.asdict(unique))
