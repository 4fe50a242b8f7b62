"""The user's app, from where `--app module:attribute` says it is."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from types import FrameType, ModuleType
from typing import TYPE_CHECKING

from leasehold.errors import LeaseholdError, SettingsError

if TYPE_CHECKING:
    from leasehold.app import App


PASSED_ON = (signal.SIGTERM, signal.SIGHUP)


def run_foreign(command: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run it on our own terminal; Ctrl-C is for it alone. Returns its exit code."""
    process = subprocess.Popen(command, env={**os.environ, **environ})
    with _leaving_signals_to(process):
        code = process.wait()
    return code if code >= 0 else 128 - code


@contextmanager
def _leaving_signals_to(process: subprocess.Popen[bytes]) -> Generator[None]:
    def pass_on(number: int, _frame: FrameType | None) -> None:
        if number in PASSED_ON:
            process.send_signal(number)

    before = {each: signal.signal(each, pass_on) for each in (signal.SIGINT, *PASSED_ON)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


OURS = ("leasehold.", "importlib")


def load_app(place: str) -> App:
    """The app at `module:attribute`; modules in the current folder are found, too. Raises SettingsError."""
    from leasehold.app import App  # noqa: PLC0415

    module_name, _, attribute = place.partition(":")
    module = _import(place, module_name)
    try:
        found = reduce(getattr, attribute.split("."), module)
    except AttributeError as error:
        apps = [name for name, value in vars(module).items() if isinstance(value, App)]
        hint = f"; it has {', '.join(f'{module_name}:{name}' for name in apps)}" if apps else ""
        raise SettingsError(f"app {place}: module {module_name} has no {attribute}{hint}") from error
    if not isinstance(found, App):
        raise SettingsError(f"app {place} is of type {type(found).__qualname__}, not leasehold.App")
    return found


def _import(place: str, module_name: str) -> ModuleType:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        is_ours = error.name is not None and f"{module_name}.".startswith(f"{error.name}.")
        where = f" in {folder} or among the installed packages" if is_ours else f", which {_line_of(error)} imports"
        raise SettingsError(f"app {place}: there is no module {error.name}{where}") from error
    except LeaseholdError as error:
        raise SettingsError(f"app {place} cannot be imported: {error} ({_line_of(error)})") from error
    except SystemExit as error:
        culprit = _importing(error) or module_name
        raise SettingsError(
            f"app {place} cannot be imported: module {culprit} ends the program by {error!r} while it is imported; "
            f'put what belongs to a script alone below `if __name__ == "__main__":`'
        ) from error
    except Exception as error:
        message = f"{type(error).__qualname__}: {error}"
        raise SettingsError(f"app {place} cannot be imported: {message} ({_line_of(error)})") from error


def _line_of(error: BaseException) -> str:
    """`/srv/shop/jobs.py, line 12`: the innermost line of a file that is not ours, or the one that is no Python."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}"
    frames = _frames_of(error)
    return f"{frames[-1][0].f_code.co_filename}, line {frames[-1][1]}" if frames else "no line is known"


def _importing(error: BaseException) -> str | None:
    """`shop.jobs (/srv/shop/jobs.py, line 12)`: the innermost module that was being imported, and where it had come to."""
    frames = [(frame, line) for frame, line in _frames_of(error) if frame.f_code.co_name == "<module>"]
    if not frames:
        return None
    frame, line = frames[-1]
    return f"{frame.f_globals.get('__name__')} ({frame.f_code.co_filename}, line {line})"


def _frames_of(error: BaseException) -> list[tuple[FrameType, int]]:
    """The frames in files that are not ours, each with its line, the innermost last."""
    return [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not str(frame.f_globals.get("__name__")).startswith(OURS) and not frame.f_code.co_filename.startswith("<")
    ]
