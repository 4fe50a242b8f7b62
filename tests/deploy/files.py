"""What the deploy files start: commands, the environment they get, and the Kubernetes objects around them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
import yaml

from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
UNITS = sorted(DEPLOY.glob("systemd/*.service"))
COMPOSE = [DEPLOY / "docker/compose.yaml", DEPLOY / "docker/compose.pgbouncer.yaml"]
DSN = "postgresql://user@host/database"
TOKEN = "a-token-that-is-long-enough"

Manifest = dict[str, Any]


class Started(msgspec.Struct, frozen=True):
    """A command as a deploy file gives it: its words after `leasehold`, and what it finds in its environment."""

    source: str
    words: Sequence[str]
    environ: Mapping[str, str] = {}


def documents(path: Path) -> list[Manifest]:
    """What a YAML file holds."""
    return [each for each in yaml.safe_load_all(path.read_text()) if each]


def manifests() -> list[Manifest]:
    """Every object in the Kubernetes files, as they stand there."""
    files = sorted(path for path in KUBERNETES.rglob("*.yaml") if path.name != "kustomization.yaml")
    return [each for path in files for each in documents(path)]


def rendered(folder: str) -> list[Manifest]:
    """What kustomize makes of a folder; skips the test where it is not installed."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip(
            "kustomize comes with kubectl, which is not here and not among Debian's packages in a version of use"
        )
    done = subprocess.run(
        [kubectl, "kustomize", str(KUBERNETES / folder)], check=False, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def pod_of(manifest: Manifest) -> Manifest | None:
    """The pod template of an object that has one."""
    return cast("Manifest | None", manifest.get("spec", {}).get("template"))


def containers(objects: Sequence[Manifest]) -> Iterator[tuple[str, Manifest, Manifest]]:
    """Kind and name of the owner, the pod template and the container."""
    for each in objects:
        pod = pod_of(each)
        for container in pod["spec"]["containers"] if pod else ():
            yield f"{each['kind']} {each['metadata']['name']}", pod or {}, container


def from_kubernetes(objects: Sequence[Manifest]) -> list[Started]:
    """What the pods start."""
    shared = next(each["data"] for each in objects if each["kind"] == "ConfigMap")
    return [
        Started(owner, container["args"], {**shared, **_environment(container)})
        for owner, _, container in containers(objects)
        if container["image"].partition(":")[0] in {"leasehold", "registry.example.com/shop/jobs"}
    ]


def variables_of_services(objects: Sequence[Manifest]) -> dict[str, str]:
    """What Kubernetes would put into each container for these Services, were it not told otherwise."""
    found: dict[str, str] = {}
    for service in objects:
        if service["kind"] != "Service" or service["spec"].get("clusterIP") == "None":
            continue
        name = service["metadata"]["name"].upper().replace("-", "_")
        port = service["spec"]["ports"][0]
        number, address = str(port["port"]), f"tcp://10.0.0.1:{port['port']}"
        found |= {f"{name}_SERVICE_HOST": "10.0.0.1", f"{name}_SERVICE_PORT": number, f"{name}_PORT": address}
        found |= {f"{name}_PORT_{number}_TCP": address, f"{name}_PORT_{number}_TCP_PROTO": "tcp"}
        found |= {f"{name}_PORT_{number}_TCP_PORT": number, f"{name}_PORT_{number}_TCP_ADDR": "10.0.0.1"}
        if "name" in port:
            found[f"{name}_SERVICE_PORT_{port['name'].upper().replace('-', '_')}"] = number
    return found


def _environment(container: Manifest) -> dict[str, str]:
    return {each["name"]: each.get("value") or _secret(each["name"]) for each in container.get("env", ())}


def _secret(name: str) -> str:
    return {"LEASEHOLD_GATEWAY_TOKEN": TOKEN, "LEASEHOLD_WORKER_ID": "leasehold-worker-0"}.get(name, DSN)


def from_compose() -> list[Started]:
    """What the services of the compose files start, with and without PgBouncer."""
    [plain], [pooled] = (documents(path) for path in COMPOSE)
    found: list[Started] = []
    for name, service in plain["services"].items():
        if service["image"] == "leasehold":
            more = pooled["services"].get(name, {}).get("environment", {})
            for environ in (service["environment"], {**service["environment"], **more}):
                found.append(Started(f"compose {name}", service["command"], {n: _fill(v) for n, v in environ.items()}))
    return found


def _fill(value: str) -> str:
    return re.sub(r"\$\{(\w+):\?\}", TOKEN, value)


def from_systemd() -> list[Started]:
    """What the units start, with the environment of the example."""
    shared = environment_of((DEPLOY / "systemd/leasehold.env.example").read_text().splitlines())
    found: list[Started] = []
    for path in UNITS:
        lines = path.read_text().splitlines()
        given = [word for line in lines if line.startswith("Environment=") for word in shlex.split(line[12:])]
        [command] = [line.removeprefix("ExecStart=") for line in lines if line.startswith("ExecStart=")]
        program, *words = shlex.split(command)
        assert program == "/opt/leasehold/bin/leasehold"
        found.append(Started(path.name, words, {**shared, **environment_of(given)}))
    return found


def environment_of(lines: Sequence[str]) -> dict[str, str]:
    """`NAME=value` lines, comments left out."""
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name: value for name, _, value in pairs if name.startswith("LEASEHOLD_")}


def from_dockerfile() -> list[Started]:
    """What the image starts when nothing else is said."""
    text = (DEPLOY / "docker/Dockerfile").read_text()
    [entry] = re.findall(r"^ENTRYPOINT (\[.*\])$", text, re.MULTILINE)
    [command] = re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)
    assert json.loads(entry) == ["leasehold"]
    return [Started("Dockerfile", json.loads(command), {"LEASEHOLD_DATABASE_URL": DSN})]


def from_procfile() -> list[Started]:
    """Each line of the Procfile."""
    lines = (ROOT / "Procfile").read_text().splitlines()
    words = [shlex.split(line.partition(":")[2]) for line in lines]
    assert all(each[0] == "leasehold" for each in words)
    return [Started("Procfile", each[1:], {"LEASEHOLD_DATABASE_URL": DSN}) for each in words]


def from_page(path: Path, *, in_text: bool = True) -> list[Started]:
    """The leasehold commands in a page, in blocks and, if wanted, in the text. ID stands for a number."""
    text = path.read_text()
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    commands = [line.strip() for block in blocks for line in re.sub(r"\\\n\s*", "", block).splitlines()]
    commands += [
        span
        for span in re.findall(r"`(leasehold [^`\n]+)`", text)
        if in_text and "…" not in span and "COMMAND" not in span
    ]
    found: dict[tuple[str, ...], Started] = {}
    for command in (each.removeprefix("$ ") for each in commands):
        if not re.match(r"([A-Z_]+=\S* )*leasehold ", command):
            continue
        words = ["1" if word == "ID" else word for word in shlex.split(re.split(r" [|>] ", command)[0], comments=True)]
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words.pop(0)
        if words and words[0] == "leasehold":
            found.setdefault(tuple(words), Started(path.name, words[1:], {"LEASEHOLD_DATABASE_URL": DSN}))
    return list(found.values())
