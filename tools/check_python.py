"""Says whether this Python can run leasehold. Must itself run on any Python."""

import sys
from importlib.util import find_spec

if sys.version_info[:2] < (3, 11):  # noqa: UP036  whoever runs it may have any
    version = ".".join(map(str, sys.version_info[:3]))
    sys.stderr.write("leasehold needs Python 3.11 or newer; " + sys.executable + " is " + version + "\n")
    sys.stderr.write("choose another one, for instance: make setup PYTHON=python3.12\n")
    sys.exit(1)
if not (find_spec("ensurepip") and find_spec("venv")):
    sys.stderr.write("this Python cannot make virtual environments; on Debian: apt-get install python3-venv\n")
    sys.exit(1)
