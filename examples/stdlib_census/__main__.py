"""`python -m examples.stdlib_census [FOLDER]`: count in one process, without jobs, and print JSON."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from .measures import count_plainly
from .sources import standard_library

if __name__ == "__main__":
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else standard_library()
    sys.stdout.buffer.write(msgspec.json.encode(count_plainly(root)) + b"\n")
