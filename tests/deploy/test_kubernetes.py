from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jsonschema
import kubernetes_validate
import pytest

from leasehold.cli.up.up import plan_workers
from leasehold.database import Database
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.nouns.capacity import DesiredBody, DesiredParameters, show_desired_workers
from leasehold.gateway.route_table import ROUTES
from leasehold.settings import Settings, load_settings
from leasehold.settings.settings import FORCE_SECONDS
from tests.deploy.files import KUBERNETES, Manifest, containers, documents, from_kubernetes, manifests, pod_of, rendered

# The oldest that is still looked after, and the newest that the validator knows.
OLDEST, NEWEST = "1.33", "1.37"
WITHOUT_SCHEMA = {"ScaledObject", "TriggerAuthentication"}
KEDA_SCHEMAS = Path(__file__).parent / "keda.json"
PATHS = {"/livez", "/readyz", "/startupz"}


@pytest.fixture(scope="module")
def example() -> list[Manifest]:
    """What `kubectl apply -k deploy/kubernetes/example` would send."""
    return rendered("example")


def named(objects: list[Manifest], kind: str) -> dict[str, Manifest]:
    return {each["metadata"]["name"]: each for each in objects if each["kind"] == kind}


def test_every_object_fits_the_schema_of_an_old_kubernetes() -> None:
    for each in manifests():
        if each["kind"] not in WITHOUT_SCHEMA:
            kubernetes_validate.validate(each, OLDEST, strict=True)


def test_what_kustomize_makes_of_them_fits_the_schema_of_a_new_one(example: list[Manifest]) -> None:
    assert len(example) > len(WITHOUT_SCHEMA)
    for each in example:
        if each["kind"] not in WITHOUT_SCHEMA:
            kubernetes_validate.validate(each, NEWEST, strict=True)


def test_no_pod_gets_the_variables_of_services() -> None:
    for each in manifests():
        if pod := pod_of(each):
            assert pod["spec"]["enableServiceLinks"] is False, each["metadata"]["name"]


def test_selectors_find_the_pods_they_are_for(example: list[Manifest]) -> None:
    pods = [pod["metadata"]["labels"] for pod in map(pod_of, example) if pod]
    for each in example:
        spec = each.get("spec", {})
        selector: Mapping[str, Any] = spec.get("selector") or spec.get("podSelector") or {}
        labels = selector.get("matchLabels", selector if each["kind"] == "Service" else {})
        if labels:
            assert any(labels.items() <= pod.items() for pod in pods), each["metadata"]["name"]


def test_what_the_pods_refer_to_is_there(example: list[Manifest]) -> None:
    secrets, accounts = named(example, "Secret"), named(example, "ServiceAccount")
    for owner, pod, container in containers(example):
        assert pod["spec"].get("serviceAccountName", "default") in {"default", *accounts}, owner
        for variable in container.get("env", ()):
            if reference := variable.get("valueFrom", {}).get("secretKeyRef"):
                assert reference["key"] in secrets[reference["name"]]["stringData"], (owner, variable["name"])


def test_probes_ask_for_paths_that_are_served_on_ports_that_are_open(example: list[Manifest]) -> None:
    assert {route.path for route in ROUTES} >= PATHS
    for owner, _, container in containers(example):
        ports = {port["name"]: port["containerPort"] for port in container.get("ports", ())}
        probes = [container[name] for name in container if name.endswith("Probe")]
        assert bool(probes) == bool(ports), owner
        for probe in probes:
            asked = probe.get("httpGet") or probe["tcpSocket"]
            assert asked["port"] in ports, owner
            assert asked.get("path", "/livez") in PATHS, owner
        if "probes" in ports:
            assert container["args"][-2:] == ["--probe-port", str(ports["probes"])], owner


def test_metrics_are_scraped_where_they_are_open(example: list[Manifest]) -> None:
    scraped = {}
    for owner, pod, container in containers(example):
        if port := pod["metadata"].get("annotations", {}).get("prometheus.io/port"):
            scraped[owner] = {"probes": int(port)}.items() <= {
                each["name"]: each["containerPort"] for each in container["ports"]
            }.items()
    assert scraped == {"Deployment leasehold-scheduler": True, "StatefulSet leasehold-worker": True}


def test_what_kills_never_asks_the_database(example: list[Manifest]) -> None:
    for owner, _, container in containers(example):
        if probe := container.get("livenessProbe"):
            assert probe["httpGet"]["path"] == "/livez", owner


def test_there_is_time_to_drain(example: list[Manifest]) -> None:
    for started in from_kubernetes(example):
        drain = float(started.environ.get("LEASEHOLD_DRAIN_SECONDS", Settings().drain_seconds))
        pod = next(pod for owner, pod, _ in containers(example) if owner == started.source)
        if "migrate" not in started.words:
            assert pod["spec"]["terminationGracePeriodSeconds"] > drain + FORCE_SECONDS + 5, started.source


def test_no_pod_has_rights_that_it_does_not_need(example: list[Manifest]) -> None:
    for owner, pod, container in containers(example):
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True, owner
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, owner
        assert "memory" in container["resources"]["limits"], owner


def test_the_gateway_alone_has_a_token_of_kubernetes() -> None:
    has_token = {
        each["metadata"]["name"]: pod["spec"]["automountServiceAccountToken"]
        for each in manifests()
        if (pod := pod_of(each))
    }
    assert {name for name, mounts in has_token.items() if mounts} == {"leasehold-gateway"}
    accounts = named(manifests(), "ServiceAccount")
    assert all(each["automountServiceAccountToken"] is False for each in accounts.values())


def test_all_that_a_token_may_do_is_to_read_and_set_the_number_of_the_workers() -> None:
    objects = manifests()
    [role] = named(objects, "Role").values()
    workers = set(named(objects, "StatefulSet"))
    assert role["rules"] == [
        {
            "apiGroups": ["apps"],
            "resources": ["statefulsets/scale"],
            "resourceNames": [*workers],
            "verbs": ["get", "patch"],
        }
    ]
    [binding] = named(objects, "RoleBinding").values()
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert [each["name"] for each in binding["subjects"]] == ["leasehold-gateway"]
    assert not {each["kind"] for each in objects} & {"ClusterRole", "ClusterRoleBinding"}


def test_the_gateway_scales_the_workers_within_the_bounds_of_the_scaler() -> None:
    objects = manifests()
    [gateway] = [each for each in from_kubernetes(objects) if each.words[0] == "gateway"]
    settings = load_settings({}, gateway.environ)
    assert settings.k8s_worker_statefulset in named(objects, "StatefulSet")
    for scaler in (each["spec"] for each in objects if each["kind"] == "ScaledObject"):
        bounds = (scaler["minReplicaCount"], scaler["maxReplicaCount"])
        assert (settings.k8s_min_replicas, settings.k8s_max_replicas) == bounds


def test_the_scaler_scales_what_is_there_and_nobody_else_sets_the_number(example: list[Manifest]) -> None:
    [scaled] = named(example, "ScaledObject").values()
    workers = named(example, "StatefulSet")[scaled["spec"]["scaleTargetRef"]["name"]]
    assert scaled["spec"]["scaleTargetRef"]["apiVersion"] == workers["apiVersion"]
    assert "replicas" not in workers["spec"]
    [trigger] = scaled["spec"]["triggers"]
    authentication = named(example, "TriggerAuthentication")[trigger["authenticationRef"]["name"]]
    [reference] = authentication["spec"]["secretTargetRef"]
    assert reference["key"] in named(example, "Secret")[reference["name"]]["stringData"]


async def test_the_query_of_the_scaler_gives_one_number(database: Database) -> None:
    [query] = [trigger["metadata"]["query"] for trigger in triggers() if trigger["type"] == "postgresql"]
    [row] = await database.fetch(query)
    [number] = row.values()
    assert number == 0


def triggers() -> list[Manifest]:
    return [trigger for each in manifests() if each["kind"] == "ScaledObject" for trigger in each["spec"]["triggers"]]


@pytest.mark.parametrize("folder", ["keda", "keda-http"])
def test_the_scaler_fits_the_schema_of_keda(folder: str) -> None:
    schemas = json.loads(KEDA_SCHEMAS.read_text())
    objects = {each["kind"]: each for each in documents(KUBERNETES / folder / "scaled-object.yaml")}
    assert set(objects) == WITHOUT_SCHEMA
    for kind, each in objects.items():
        jsonschema.validate(each, schemas | {"$ref": f"#/$defs/{kind}"})
    references = {each["authenticationRef"]["name"] for each in objects["ScaledObject"]["spec"]["triggers"]}
    assert references == {objects["TriggerAuthentication"]["metadata"]["name"]}
    del objects["ScaledObject"]["spec"]["scaleTargetRef"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(objects["ScaledObject"], schemas | {"$ref": "#/$defs/ScaledObject"})


def test_the_scaler_over_http_asks_the_gateway_with_a_token_for_a_number_that_it_gives() -> None:
    [metadata] = [trigger["metadata"] for trigger in triggers() if trigger["type"] == "metrics-api"]
    url = urlsplit(str(metadata["url"]))
    [service] = [
        each for each in manifests() if each["kind"] == "Service" and each["metadata"]["name"] == "leasehold-gateway"
    ]
    host = f"{service['metadata']['name']}.leasehold.svc"
    assert (url.hostname, url.port or 80) == (host, service["spec"]["ports"][0]["port"])
    [route] = [each for each in ROUTES if each.path.replace("{queue}", "default") == url.path]
    assert route.handler is show_desired_workers
    assert set(parse_qs(url.query)) <= set(DesiredParameters.__struct_fields__)
    assert metadata["valueLocation"] in DesiredBody.__struct_fields__
    assert metadata["authMode"] == "bearer"
    [[reference]] = [
        each["spec"]["secretTargetRef"]
        for each in documents(KUBERNETES / "keda-http/scaled-object.yaml")
        if each["kind"] == "TriggerAuthentication"
    ]
    assert reference["parameter"] == "token"
    assert route.scope is Scope.READ


@pytest.fixture(scope="module")
def fleet() -> list[Manifest]:
    """Pods with several workers each: `deploy/kubernetes/fleet`."""
    return rendered("fleet")


def test_the_objects_of_a_fleet_fit_the_schemas_of_an_old_and_of_a_new_kubernetes(fleet: list[Manifest]) -> None:
    for each in fleet:
        for version in (OLDEST, NEWEST):
            kubernetes_validate.validate(each, version, strict=True)


def test_a_pod_of_a_fleet_has_five_workers_with_names_and_ports_of_their_own(fleet: list[Manifest]) -> None:
    [started] = [each for each in from_kubernetes(fleet) if each.words[:2] == ["run", "worker"]]
    flags = dict(zip(started.words[2::2], started.words[3::2], strict=True))
    environ = {
        **started.environ,
        "LEASEHOLD_WORKERS": flags["--workers"],
        "LEASEHOLD_PROBE_PORT": flags["--probe-port"],
    }
    children = plan_workers(load_settings({}, environ), {})
    names = [child.environ["LEASEHOLD_WORKER_ID"] for child in children]
    assert names == [f"leasehold-worker-0-{number}" for number in range(1, 6)]
    [container] = [each for owner, _, each in containers(fleet) if owner == started.source]
    open_ports = [port["containerPort"] for port in container["ports"]]
    assert [int(child.environ["LEASEHOLD_PROBE_PORT"]) for child in children] == open_ports
    [let_in] = named(fleet, "NetworkPolicy")["leasehold-probes"]["spec"]["ingress"][0]["ports"]
    assert (let_in["port"], let_in["endPort"]) == (open_ports[0], open_ports[-1])
    assert "livenessProbe" not in container
    assert {container[name]["httpGet"]["port"] for name in ("startupProbe", "readinessProbe")} == {"probes"}


def test_a_fleet_has_from_five_to_fifteen_pods(fleet: list[Manifest]) -> None:
    [gateway] = [each for each in from_kubernetes(fleet) if each.words[0] == "gateway"]
    settings = load_settings({}, gateway.environ)
    assert (settings.k8s_min_replicas, settings.k8s_max_replicas) == (5, 15)
    assert named(fleet, "StatefulSet")["leasehold-worker"]["spec"]["replicas"] == settings.k8s_min_replicas
