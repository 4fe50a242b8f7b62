"""The app: which function runs which kind, and which schedules stand beside them.

Users start here (`App`); the worker, the client and the gateway are given one. Start reading in `registry.py`.
"""

from leasehold.app.registry import App, FreeKind

__all__ = ["App", "FreeKind"]
