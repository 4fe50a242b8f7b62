"""Which signals ask a process to end."""

from __future__ import annotations

import signal


def stop_signals() -> tuple[signal.Signals, ...]:
    """SIGTERM, SIGINT, and SIGHUP, which a terminal sends when it is closed; not SIGHUP under `nohup`, which ignores it."""
    hang_up = signal.SIGHUP
    ignored = signal.getsignal(hang_up) == signal.SIG_IGN
    return (signal.SIGTERM, signal.SIGINT) if ignored else (signal.SIGTERM, signal.SIGINT, hang_up)
