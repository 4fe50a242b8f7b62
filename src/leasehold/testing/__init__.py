"""Tests of your own jobs, on a real database that each test has for itself.

`Kit` enqueues, runs and looks; `leasehold.testing.plugin` gives pytest the fixtures. Start in `kit.py`.
"""

from leasehold.testing.crashes import CrashFound, CrashPoint
from leasehold.testing.databases import TestDatabases
from leasehold.testing.kit import Kit

__all__ = ["CrashFound", "CrashPoint", "Kit", "TestDatabases"]
