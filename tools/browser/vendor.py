"""Copies the browser libraries of `package.json` into `gateway/dashboard/vendor/` and writes the list of them there.

    npm ci --prefix tools/browser && python tools/browser/vendor.py

Imports by name become relative ones, and lines about source maps go; nothing else is changed. With `--check` it only compares.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
VENDOR = HERE.parents[1] / "gateway" / "dashboard" / "vendor"

FILES = {
    "preact.js": ("preact", "dist/preact.mjs"),
    "hooks.js": ("preact", "hooks/dist/hooks.mjs"),
    "signals-core.js": ("@preact/signals-core", "dist/signals-core.mjs"),
    "signals.js": ("@preact/signals", "dist/signals.mjs"),
    "htm.js": ("htm", "dist/htm.mjs"),
}
NAMES = {
    "preact": "./preact.js",
    "preact/hooks": "./hooks.js",
    "@preact/signals-core": "./signals-core.js",
}
TYPES = {
    "preact.d.ts": 'export * from "preact";\n',
    "hooks.d.ts": 'export * from "preact/hooks";\n',
    "signals.d.ts": 'export * from "@preact/signals";\n',
    "htm.d.ts": 'export { default } from "htm";\n',
}
SOURCE_MAP = re.compile(r"\n?//# sourceMappingURL=.*\n?")
IMPORT = re.compile(r'from"([^"]+)"')


def main() -> int:
    """Write the files, or with `--check` name those that differ."""
    wanted = {name: text.encode() for name, text in contents().items()}
    if "--check" in sys.argv:
        differing = [name for name, text in wanted.items() if (VENDOR / name).read_bytes() != text]
        sys.stderr.write("".join(f"{name} differs from tools/browser/package.json\n" for name in differing))
        return 1 if differing else 0
    for name, text in wanted.items():
        (VENDOR / name).write_bytes(text)
    return 0


def contents() -> dict[str, str]:
    """Every file by name."""
    files = {name: adapt((MODULES / package / path).read_text()) for name, (package, path) in FILES.items()}
    packages = sorted({package for package, _ in FILES.values()})
    licences = {f"LICENSE-{flat(each)}": licence(each) for each in packages}
    return {**files, **licences, **TYPES, "VENDORED.md": page(files)}


def adapt(text: str) -> str:
    """As a browser can load it from beside its siblings."""
    text = SOURCE_MAP.sub("", text)
    text = IMPORT.sub(lambda found: f'from"{NAMES[found[1]]}"', text)
    return f"{text.rstrip()}\n"


def licence(package: str) -> str:
    """The text of its licence."""
    (found,) = (MODULES / package).glob("LICENSE*")
    return found.read_text()


def page(files: dict[str, str]) -> str:
    """The list of what lies there."""
    rows = [row(name, *FILES[name], text) for name, text in files.items()]
    return "\n".join(
        (
            "# Vendored: what the dashboard loads besides its own files",
            "",
            "| file | package | version | file of the package | licence | SHA-256 |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            "Imports by name are made relative, and lines about source maps are taken out.",
            "To renew: change the versions in `tools/browser/package.json`, then `npm install --prefix tools/browser` and",
            "`python tools/browser/vendor.py`, which writes this page, too. `make check` compares.",
            "",
        )
    )


def row(name: str, package: str, path: str, text: str) -> str:
    """One line of the list."""
    about = json.loads((MODULES / package / "package.json").read_text())
    digest = hashlib.sha256(text.encode()).hexdigest()
    licence_link = f"[{about['license']}](LICENSE-{flat(package)})"
    return f"| {name} | {package} | {about['version']} | {path} | {licence_link} | {digest} |"


def flat(package: str) -> str:
    """A package's name as a part of a file's name."""
    return package.removeprefix("@").replace("/", "-")


if __name__ == "__main__":
    sys.exit(main())
