"""A server that speaks S3."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable, Generator

import pytest

S3 = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
}


@pytest.fixture(scope="session")
def s3_server() -> Generator[str]:
    """The address of moto's server, which speaks S3."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Makes a bucket and returns its address."""
    for name, value in {**S3, "AWS_ENDPOINT": s3_server}.items():
        monkeypatch.setenv(name, value)

    def make(name: str) -> str:
        with urllib.request.urlopen(urllib.request.Request(f"{s3_server}/{name}", method="PUT")):
            pass
        return f"s3://{name}/payloads"

    return make
