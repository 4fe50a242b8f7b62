"""The app: which function runs which kind, and the schedules that the code declares.

Users start with `App`; the worker, the client and the gateway get one. Start reading in `registry.py`.
"""

from leasehold.app.registry import App, FreeKind

__all__ = ["App", "FreeKind"]
