"""OpenTelemetry (extra `otel`): spans and metrics. Users call `instrument`; nobody in leasehold imports this room.

Start in `tracing.py`.
"""

from leasehold.otel.tracing import instrument, instrument_client

__all__ = ["instrument", "instrument_client"]
