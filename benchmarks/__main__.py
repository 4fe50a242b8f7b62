"""`python -m benchmarks [NAME…] [--quick] [--json FILE]`."""

from __future__ import annotations

import sys

from benchmarks.command import main

sys.exit(main(sys.argv[1:]))
