"""What Kubernetes gives each pod: where its API server is, and a folder with a token, a certificate and a namespace."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path

import msgspec

from leasehold.gateway.http.problems import NOT_IN_KUBERNETES, Refusal

FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
HOST, PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"


class Pod(msgspec.Struct, frozen=True):
    """A pod's way to the API server. The files change while the pod runs, so each request reads them anew."""

    url: str
    folder: Path = FOLDER

    def token(self) -> str:
        """The present token of the service account. Raises Refusal."""
        return self._read("token")

    def namespace(self) -> str:
        """The namespace that the pod runs in. Raises Refusal."""
        return self._read("namespace")

    def trust(self) -> ssl.SSLContext:
        """Trusts who the cluster's own authority has signed, and nobody else. Raises Refusal."""
        try:
            context = ssl.create_default_context(cadata=self._read("ca.crt"))
        except ssl.SSLError as error:
            raise Refusal(NOT_IN_KUBERNETES, f"{self.folder / 'ca.crt'} holds no certificate") from error
        # Authorities of older clusters lack the key identifiers that Python asks for from 3.13 on.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context

    def _read(self, name: str) -> str:
        try:
            text = (self.folder / name).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise _unmounted(self.folder / name) from error
        if not text:
            raise _unmounted(self.folder / name)
        return text


def pod_of(environ: Mapping[str, str]) -> Pod | None:
    """The pod that this process runs in; None outside Kubernetes."""
    host, port = environ.get(HOST), environ.get(PORT) or "443"
    if not host:
        return None
    return Pod(f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}")


def _unmounted(path: Path) -> Refusal:
    return Refusal(
        NOT_IN_KUBERNETES,
        f"the gateway's pod has no {path}: give it a service account, and automountServiceAccountToken: true",
    )
