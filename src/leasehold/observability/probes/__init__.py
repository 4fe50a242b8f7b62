"""The probes of processes without a web server of their own: alive, ready, started; and their metrics."""

from leasehold.observability.probes.health import Health, Question, Verdict
from leasehold.observability.probes.server import open_probes

__all__ = ["Health", "Question", "Verdict", "open_probes"]
