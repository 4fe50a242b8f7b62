"""Probes of processes that serve no HTTP otherwise: whether they live, are ready, have started; and their metrics."""

from leasehold.observability.probes.health import Health, Question, Verdict
from leasehold.observability.probes.server import open_probes

__all__ = ["Health", "Question", "Verdict", "open_probes"]
