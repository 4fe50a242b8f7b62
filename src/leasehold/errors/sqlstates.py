"""From an SQLSTATE to the error of ours that says the same. Whatever the driver; text is never matched, except for our name."""

from __future__ import annotations

from leasehold.errors import failures, refusals
from leasehold.errors.refusals import LeaseholdError

OWN_ERRORS: dict[str, type[LeaseholdError]] = {
    "LH001": refusals.BadInput,
    "LH003": failures.LeaseLost,
    "LH004": refusals.WrongState,
    "LH005": failures.SchemaMismatch,
    "LH007": refusals.IdempotencyMismatch,
    "LH008": refusals.RowLocked,
    "LH009": failures.EpochOver,
}

# LH002 with the name of a table says what is missing; without, it is a job or a chain.
MISSING_THINGS: dict[str, type[refusals.NotFound]] = {
    "schedules": refusals.UnknownSchedule,
    "workers": refusals.UnknownWorker,
    "api_tokens": refusals.UnknownToken,
    "payloads": refusals.UnknownPayload,
    "egress_identities": refusals.UnknownIdentity,
    "sources": refusals.UnknownSource,
}

# Connection trouble, shutdown and start-up, too many connections, serialization and deadlock, lock and statement
# timeouts, a server that turned read-only under a failover.
TRANSIENT = frozenset({"57P01", "57P02", "57P03", "57P05", "57014", "53300", "40001", "40P01", "25006"})
TRANSIENT_CLASSES = frozenset({"08", "53"})
BAD_INPUT_CLASSES = frozenset({"22", "54"})
LOCKED = "55P03"
MISSING = frozenset({"3F000", "42P01", "42883"})
# What a newcomer meets at the first connection, and what helps.
ADVICE = {
    "3D000": "make it with `createdb`, or name another database",
    "28P01": "look at the user and the password in the address",
    "28000": "look at the user in the address, and at pg_hba.conf",
}


def error_of_state(
    state: str | None, message: str, *, hint: str | None = None, detail: str | None = None, table: str | None = None
) -> LeaseholdError:
    """The error of ours for what Postgres refused.

    Args:
        state: the SQLSTATE. message, hint, detail, table: the fields of the same names in the answer of Postgres.
    """
    state = state or "XX000"
    text = message + (f" ({hint})" if hint else "")
    if state == refusals.UniqueConflict.sqlstate:
        return refusals.UniqueConflict(text, job_id=int(detail) if detail else None)
    if state == refusals.NotFound.sqlstate:
        return MISSING_THINGS.get(table or "", refusals.UnknownJob)(text)
    if state in OWN_ERRORS:
        return OWN_ERRORS[state](text)
    return _of_postgres(state, text)


def _of_postgres(state: str, text: str) -> LeaseholdError:
    if state == LOCKED:
        return failures.LockTimeout(f"{text} [SQLSTATE {state}]")
    if state in TRANSIENT or state[:2] in TRANSIENT_CLASSES:
        return failures.DatabaseUnavailable(f"{text} [SQLSTATE {state}]")
    if state[:2] in BAD_INPUT_CLASSES:
        return failures.ValueRefused(f"Postgres refuses a value: {text} [SQLSTATE {state}]", sqlstate=state)
    if state in MISSING and "leasehold" in text:
        return failures.SchemaMismatch(f"{text}; run `leasehold migrate`")
    advice = f"; {ADVICE[state]}" if state in ADVICE else ""
    return failures.QueryRefused(f"{text}{advice} [SQLSTATE {state}]", sqlstate=state)
