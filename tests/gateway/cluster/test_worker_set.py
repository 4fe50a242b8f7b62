"""The StatefulSet of the workers, behind an API server with real TLS."""

from __future__ import annotations

import socket
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from leasehold.gateway import cluster as k8s
from leasehold.gateway.cluster import Pod, WorkerSet
from leasehold.gateway.http.problems import ProblemType, Refusal
from leasehold.settings import Settings
from tests.gateway.fakes.certificates import Authority
from tests.gateway.fakes.kubernetes import NAME, NAMESPACE, FakeKubernetes, run_until_closed, running_kubernetes

PATH = f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets/{NAME}/scale"


@pytest.fixture
def place(tmp_path: Path) -> Generator[tuple[FakeKubernetes, Pod]]:
    with running_kubernetes(tmp_path) as place:
        yield place


@pytest.fixture
def cluster(place: tuple[FakeKubernetes, Pod]) -> FakeKubernetes:
    return place[0]


@pytest.fixture
def pod(place: tuple[FakeKubernetes, Pod]) -> Pod:
    return place[1]


def workers(pod: Pod | None, **settings: Any) -> WorkerSet:
    given: dict[str, Any] = {"k8s_worker_statefulset": NAME, **settings}
    return WorkerSet(Settings(**given), pod)


def read(pod: Pod | None, **settings: Any) -> tuple[str, str, int, int]:
    namespace, name, scale = run_until_closed(workers(pod, **settings).read())
    return namespace, name, scale.status.replicas, scale.spec.replicas


def refused(pod: Pod | None, replicas: int | None = None, **settings: Any) -> Refusal:
    found = workers(pod, **settings)
    with pytest.raises(Refusal) as refusal:
        run_until_closed(found.read() if replicas is None else found.scale(replicas))
    return refusal.value


def told(refusal: Refusal) -> tuple[int, str]:
    problem: ProblemType = refusal.problem
    return problem.status, problem.code


def test_the_replicas_are_those_of_the_scale(cluster: FakeKubernetes, pod: Pod) -> None:
    cluster.desired, cluster.current = 5, 4
    assert read(pod) == (NAMESPACE, NAME, 4, 5)
    assert cluster.asked == [f"GET {PATH}"]


def test_a_number_of_nothing_that_kubernetes_leaves_out_is_0(cluster: FakeKubernetes, pod: Pod) -> None:
    cluster.desired, cluster.current = 0, 0
    assert read(pod) == (NAMESPACE, NAME, 0, 0)


def test_scaling_patches_the_number_and_nothing_else(cluster: FakeKubernetes, pod: Pod) -> None:
    _, _, scale = run_until_closed(workers(pod).scale(10))
    assert (cluster.desired, scale.spec.replicas, scale.status.replicas) == (10, 10, 3)
    assert cluster.asked == [f"PATCH {PATH}"]
    run_until_closed(workers(pod).scale(0))
    assert cluster.desired == 0


def test_a_namespace_in_the_settings_wins_over_the_pods_own(cluster: FakeKubernetes, pod: Pod) -> None:
    (pod.folder / "namespace").unlink()
    assert read(pod, k8s_namespace=NAMESPACE)[0] == NAMESPACE
    refusal = refused(pod, k8s_namespace="other")
    assert told(refusal) == (404, "unknown_statefulset")
    assert "leasehold-worker in the namespace other" in str(refusal)


def test_a_token_that_kubernetes_has_changed_is_taken_up(cluster: FakeKubernetes, pod: Pod) -> None:
    cluster.token = "the-next-one"
    assert told(refused(pod)) == (502, "kubernetes_refused")
    (pod.folder / "token").write_text("the-next-one")
    assert read(pod)[0] == NAMESPACE


def test_bounds_hold_before_kubernetes_is_asked(cluster: FakeKubernetes, pod: Pod) -> None:
    for replicas in (1, 16):
        refusal = refused(pod, replicas, k8s_min_replicas=5, k8s_max_replicas=15)
        assert told(refusal) == (422, "invalid_input")
        assert f"5 to 15 pods, not {replicas}" in str(refusal)
    assert cluster.asked == []


def test_a_right_that_is_missing_is_named(cluster: FakeKubernetes, pod: Pod) -> None:
    cluster.verbs = {"get"}
    assert read(pod)[0] == NAMESPACE
    refusal = refused(pod, 5)
    assert told(refusal) == (502, "kubernetes_refused")
    assert "needs the verbs get and patch on statefulsets/scale leasehold-worker in the namespace shop" in str(refusal)
    assert 'cannot patch "scale"' in str(refusal)
    assert cluster.desired == 3


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, (502, "kubernetes_refused")),
        (409, (502, "kubernetes_refused")),
        (422, (502, "kubernetes_refused")),
        (429, (503, "kubernetes_unavailable")),
        (500, (503, "kubernetes_unavailable")),
        (503, (503, "kubernetes_unavailable")),
    ],
)
def test_what_else_kubernetes_answers_is_told_with_its_words(
    cluster: FakeKubernetes, pod: Pod, status: int, code: tuple[int, str]
) -> None:
    cluster.refusing = (status, b'{"kind": "Status", "message": "admission webhook says no"}', {})
    refusal = refused(pod, 5)
    assert told(refusal) == code
    assert str(refusal).endswith(f"Kubernetes answered {status}: admission webhook says no")
    cluster.refusing = (status, b"<html>\n" + b"x" * 1000, {})
    assert len(str(refused(pod, 5))) < 400


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[", b'{"apiVersion": "apps/v1", "kind": "StatefulSet"}', b"x" * 2_000_000]
)
def test_an_answer_that_is_no_scale_is_refused(cluster: FakeKubernetes, pod: Pod, body: bytes) -> None:
    cluster.refusing = (200, body, {})
    assert told(refused(pod)) == (502, "kubernetes_unreadable")


def test_a_redirect_is_not_followed_with_the_token(cluster: FakeKubernetes, pod: Pod) -> None:
    cluster.refusing = (307, b"", {"Location": f"{cluster.url}/elsewhere"})
    assert told(refused(pod)) == (502, "kubernetes_refused")
    assert cluster.asked == [f"GET {PATH}"]


def test_a_slow_answer_is_given_up_and_nobody_says_that_it_was_not_done(
    cluster: FakeKubernetes, pod: Pod, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(k8s, "SECONDS", 0.5)
    cluster.is_silent = True
    assert told(refused(pod)) == (504, "kubernetes_timeout")
    refusal = refused(pod, 5)
    assert told(refusal) == (504, "kubernetes_timeout")
    assert "it may have done so all the same" in str(refusal)


def test_a_port_where_nobody_listens_is_unavailable(pod: Pod) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        url = f"https://127.0.0.1:{taken.getsockname()[1]}"
        assert told(refused(Pod(url, pod.folder))) == (503, "kubernetes_unavailable")


def test_a_server_that_another_authority_has_signed_gets_no_token(cluster: FakeKubernetes, pod: Pod) -> None:
    (pod.folder / "ca.crt").write_bytes(Authority().certificate)
    assert told(refused(pod)) == (502, "kubernetes_untrusted")
    assert cluster.asked == []


def test_a_certificate_for_another_address_gets_no_token(tmp_path: Path) -> None:
    with running_kubernetes(tmp_path, "10.0.0.1") as (cluster, pod):
        assert told(refused(pod)) == (502, "kubernetes_untrusted")
        assert cluster.asked == []


def test_outside_kubernetes_and_without_a_name_there_is_nothing_to_scale(pod: Pod) -> None:
    assert told(refused(None)) == told(refused(None, 5)) == (501, "not_in_kubernetes")
    refusal = refused(pod, k8s_worker_statefulset=None)
    assert told(refusal) == (501, "not_in_kubernetes")
    assert "LEASEHOLD_K8S_WORKER_STATEFULSET" in str(refusal)
