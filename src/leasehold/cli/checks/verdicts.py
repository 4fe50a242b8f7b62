"""The four verdicts that a check can come to."""

from __future__ import annotations

from leasehold.cli.views.results import Check


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
