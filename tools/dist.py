"""What a release is made of, in dist/: `make dist`.

Builds the wheel and the source archive, has twine read them, runs the demo from the wheel on each Python that is here, and
writes the list of what is inside (CycloneDX) and the checksums.
"""

# ruff: noqa: T201

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.test_matrix import ROOT, find_pythons

DIST = ROOT / "dist"
EXTRAS = "cli,embedded,metrics,otel,process"
SBOM = "leasehold.cdx.json"
SUMS = "SHA256SUMS"


def main() -> int:
    """Make it all; 1 if a step failed."""
    shutil.rmtree(DIST, ignore_errors=True)
    try:
        run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
        wheel, archive = (next(DIST.glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
        run(sys.executable, "-m", "twine", "check", "--strict", wheel, archive)
        for version, python in find_pythons().items():
            smoke(version, python, wheel)
    except subprocess.CalledProcessError as error:
        print(f"failed with exit code {error.returncode}: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return 1
    (DIST / SUMS).write_text(checksums([wheel, archive, DIST / SBOM]))
    print("\n".join(sorted(str(path.relative_to(ROOT)) for path in DIST.iterdir())))
    return 0


def smoke(version: str, python: Path, wheel: Path) -> None:
    """Install the wheel into an empty environment and run the demo there; the first one writes the list of its parts."""
    with tempfile.TemporaryDirectory(prefix="leasehold-dist-") as folder:
        programs = Path(folder) / "venv" / "bin"
        run(python, "-m", "venv", Path(folder) / "venv")
        run(programs / "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[{EXTRAS}]")
        run(programs / "leasehold", "demo", "--output", "json", cwd=Path(folder))
        if not (DIST / SBOM).exists():
            project = ("--pyproject", ROOT / "pyproject.toml", "--output-reproducible", "--output-file", DIST / SBOM)
            run(sys.executable, "-m", "cyclonedx_py", "environment", *project, programs / "python")
        print(f"Python {version}: the wheel installs and its demo ends well", flush=True)


def checksums(files: list[Path]) -> str:
    """As `sha256sum --check` reads them."""
    return "".join(f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files)


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run it, its output passed on; without what belongs to our own environment."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "LEASEHOLD"))}
    subprocess.run(command, check=True, cwd=cwd, env=environ)


if __name__ == "__main__":
    sys.exit(main())
