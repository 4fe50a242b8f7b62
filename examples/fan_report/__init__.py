"""Fan-out and fan-in on two levels: how well are the installed packages documented? One job per source file, one report.

    python -m examples.fan_report [PACKAGE …]

    discover ──> report              continues the chain, and waits for
                  ├─ summarize       one for each package, which waits for
                  │   ├─ read_file   one for each file; keeps a CPU busy, so it runs in a process
                  │   └─ …
                  └─ …

`handlers.py` is what to copy.
"""

from .handlers import app

__all__ = ["app"]
