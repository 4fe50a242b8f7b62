"""What a check found, and the four verdicts that it can come to."""

from __future__ import annotations

from typing import Literal

import msgspec


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing the doctor looked at. Only a `problem` counts as a finding."""

    name: str
    verdict: Literal["ok", "advice", "problem", "skipped"]
    detail: str
    advice: str | None = None


def ok(name: str, detail: str) -> Check:
    """Nothing to do."""
    return Check(name=name, verdict="ok", detail=detail)


def advise(name: str, detail: str, advice: str) -> Check:
    """Could be better; does not count as a finding."""
    return Check(name=name, verdict="advice", detail=detail, advice=advice)


def problem(name: str, detail: str, advice: str) -> Check:
    """A finding, and what to do about it."""
    return Check(name=name, verdict="problem", detail=detail, advice=advice)


def skipped(name: str, why: str) -> Check:
    """Could not be looked at."""
    return Check(name=name, verdict="skipped", detail=why)
