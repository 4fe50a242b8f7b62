"""`python -m faults run | judge FILE | table FILE`."""

from __future__ import annotations

import sys

from faults.run.command import main

sys.exit(main(sys.argv[1:]))
