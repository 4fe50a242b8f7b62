from __future__ import annotations

from pathlib import Path

import pytest

from leasehold.gateway.cluster import FOLDER, Pod, pod_of
from leasehold.gateway.http.problems import NOT_IN_KUBERNETES, Refusal
from tests.gateway.fakes.certificates import Authority


@pytest.mark.parametrize(
    ("environ", "url"),
    [
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "6443"}, "https://10.0.0.1:6443"),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "https://10.0.0.1:443"),
        ({"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}, "https://[fd00::1]:443"),
    ],
)
def test_a_pod_finds_the_api_server_in_its_environment(environ: dict[str, str], url: str) -> None:
    assert pod_of(environ) == Pod(url, FOLDER)


@pytest.mark.parametrize("environ", [{}, {"KUBERNETES_SERVICE_HOST": ""}, {"KUBERNETES_SERVICE_PORT": "443"}])
def test_outside_kubernetes_there_is_no_pod(environ: dict[str, str]) -> None:
    assert pod_of(environ) is None


def test_a_token_is_read_anew_each_time_because_kubernetes_changes_it(tmp_path: Path) -> None:
    pod = Pod("https://10.0.0.1:443", tmp_path)
    (tmp_path / "token").write_text("first\n")
    assert pod.token() == "first"
    (tmp_path / "token").write_text("second")
    assert pod.token() == "second"


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_pod_without_a_token_says_what_is_missing(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "token").write_bytes(content)
    with pytest.raises(Refusal, match="automountServiceAccountToken: true") as refused:
        Pod("https://10.0.0.1:443", tmp_path).token()
    assert refused.value.problem is NOT_IN_KUBERNETES


def test_an_authority_that_is_no_certificate_is_named(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("hello")
    with pytest.raises(Refusal, match=r"ca\.crt holds no certificate"):
        Pod("https://10.0.0.1:443", tmp_path).trust()


def test_only_the_authority_of_the_cluster_is_trusted(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(Authority().certificate)
    context = Pod("https://10.0.0.1:443", tmp_path).trust()
    assert context.check_hostname
    [trusted] = context.get_ca_certs()
    assert trusted["subject"] == ((("commonName", "authority of a test"),),)
