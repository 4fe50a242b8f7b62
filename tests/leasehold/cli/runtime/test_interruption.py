from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.waiting import PATIENCE

SCRIPT = """
import os, signal, sys, time
from leasehold.cli.runtime import interruption as module
module.GRACE_SECONDS = 0.2
interruption = module.Interruption()
interruption.install()
number = signal.SIGTERM if len(sys.argv) > 2 else signal.SIGINT

def send(): signal.raise_signal(number)
def heard(): print("heard", flush=True)

def at_once():
    send()
    print("went on")

def noted():
    with interruption.heeded(), interruption.on_signal(heard):
        send()
        print("went on", flush=True)
    sys.exit(interruption.exit_code(0))

def twice():
    with interruption.heeded(), interruption.on_signal(heard):
        send()
        send()
        print("went on")

def late_listener():
    with interruption.heeded():
        send()
        with interruption.on_signal(heard):
            sys.exit(interruption.exit_code(0))

def hanging():
    with interruption.heeded(), interruption.on_signal(heard):
        send()
        time.sleep(600)

def owing():
    with interruption.heeded(), interruption.owing():
        send()
        send()
        time.sleep(0.5)
        print("put away", flush=True)
    sys.exit(interruption.exit_code(0))

def thrice():
    with interruption.heeded(), interruption.owing():
        send()
        send()
        send()
        print("went on")

def importing():
    open("slow_import.py", "w").write("import signal; signal.raise_signal(signal.SIGINT); print('went on')")
    sys.path.insert(0, os.getcwd())
    with interruption.heeded():
        import slow_import

def ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interruption.install()
    send()
    print("went on")

def ended():
    interruption.uninstall()
    send()

globals()[sys.argv[1]]()
"""


def run(what: str, *more: str, cwd: object = None) -> tuple[int, str, str]:
    words = [sys.executable, "-c", SCRIPT, what, *more]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=str(cwd) if cwd else None
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        ("at_once", 130, ""),
        ("noted", 130, "heard\nwent on\n"),
        ("twice", 130, "heard\n"),
        ("late_listener", 130, "heard\n"),
        ("hanging", 130, "heard\n"),
        ("owing", 130, "put away\n"),
        ("thrice", 130, ""),
    ],
)
def test_what_a_signal_does(what: str, code: int, said: str) -> None:
    found, out, err = run(what)
    assert (found, out) == (code, said)
    assert "Traceback" not in err


def test_sigterm_has_a_code_of_its_own() -> None:
    assert run("noted", "SIGTERM")[0] == 143
    assert run("at_once", "SIGTERM")[0] == 143


def test_an_import_is_not_waited_for(tmp_path: object) -> None:
    assert run("importing", cwd=tmp_path) == (130, "", "error: interrupted\n")


def test_a_signal_that_the_process_was_started_to_ignore_stays_ignored() -> None:
    assert run("ignored") == (0, "went on\n", "")


def test_at_the_very_end_the_signal_itself_ends_the_process() -> None:
    assert run("ended")[0] == -2
