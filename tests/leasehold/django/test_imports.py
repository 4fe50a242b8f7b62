"""Who loads what: leasehold no Django, and a web process of Django nothing that only a worker needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.waiting import PATIENCE

pytest.importorskip("django")

WEB = """
import os, sys
os.environ["SHOP_DSN"] = "postgresql:///nowhere"
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.leasehold.django.project.settings"
import django
django.setup()
from tests.leasehold.django.project.shop import tasks
from leasehold.django import Backend
assert isinstance(tasks.noop.get_backend(), Backend)
print(sorted({"trio", "asyncpg", "aiohttp", "cyclopts"} & set(sys.modules)))
"""
PLAIN = """
import sys
import leasehold, leasehold.sync
leasehold.App, leasehold.open_client
print(sorted({"django", "django_tasks", "leasehold.django"} & set(sys.modules)))
"""


@pytest.mark.parametrize("program", [WEB, PLAIN], ids=["a web process", "a program without Django"])
def test_nothing_is_loaded_that_is_not_needed(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
