"""Which jobs count as the same, and what becomes of the second one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal, cast, get_args

import msgspec

from leasehold import validation
from leasehold.errors import BadInput

OnConflict = Literal["existing", "reject", "replace", "extend", "overwrite"]

QUEUED = ("pending", "scheduled", "waiting", "blocked")
"""The states of a job that has not started; it moves between them by itself."""
UNFINISHED = (*QUEUED, "claimed", "running")
ANY_STATE = (*UNFINISHED, "completed", "failed", "cancelled")

PARTS = ("kind", "queue", "key", "key_group", "args")
SCOPES = ("job", "chain")
CONFLICTS = get_args(OnConflict)
MOST_ID = 2**63 - 1


class Unique(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """At most one job of what `by` or `key` names, decided by a unique index of the database.

    Attributes:
        by: what makes two jobs the same: `kind`, `queue`, `key`, `key_group`, `args`, or `args.NAME` for one of the args;
            kind and all args where it is not given.
        key: text that stands for the job, instead of `by`; it is the same for all kinds.
        window: seconds or timedelta; jobs made longer ago do not count.
        states: jobs in other states do not count: `UNFINISHED` (the default), `QUEUED`, `ANY_STATE`, or your own choice that
            has all of `QUEUED`.
        scope: `job`: it counts by its own state. `chain`: by that of the chain that it began.
        exclude: ids of chains that do not count, such as your own when a job starts its successor.
        on_conflict: `existing` answers with the job that is there, `reject` raises `UniqueConflict`, `replace` gives it the
            new args (and priority and metadata where given), `extend` its `run_at`, `overwrite` both. A job that a worker
            holds already stays as it is.

    Raises:
        BadInput: `by` and `key` are both given, `window` is not more than 0, or a value is none that there is.
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

    def args_fields(self) -> list[str]:
        """The args that `by` names one by one."""
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
    """What a kind says for its jobs; one that continues a chain does not ask for it."""


def by_default(unique: Unique | None) -> UniqueByDefault | None:
    """What jobs of a kind with this option are made with."""
    return None if unique is None else UniqueByDefault(**msgspec.structs.asdict(unique))
