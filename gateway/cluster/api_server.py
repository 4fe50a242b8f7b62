"""One request to the API server of Kubernetes, and what it means when that fails."""

from __future__ import annotations

import logging
import ssl
from typing import Literal

import msgspec
from aiohttp import ClientError, ClientResponse, ClientSession, ClientSSLError, ClientTimeout, TCPConnector

from leasehold.gateway.cluster.pod import Pod
from leasehold.gateway.cluster.refusals import refusal_of
from leasehold.gateway.http.problems import (
    KUBERNETES_TIMEOUT,
    KUBERNETES_UNAVAILABLE,
    KUBERNETES_UNTRUSTED,
    Refusal,
)

log = logging.getLogger(__name__)

SECONDS = 10.0
MERGE_PATCH = "application/merge-patch+json"
LARGEST_ANSWER = 1 << 20


async def ask(
    pod: Pod, method: Literal["GET", "PATCH"], path: str, what: str, patch: object = None, *, seconds: float = SECONDS
) -> bytes:
    """The body of the answer.

    Args:
        pod: who asks.
        method: GET, or PATCH with a JSON merge patch.
        path: of the object.
        what: the object in words, for refusals.
        patch: what is to change.
        seconds: how long the answer may take.

    Raises:
        Refusal: there is no token here, or the API server cannot be reached, is not trusted, is too slow or refuses.
    """
    trust = pod.trust()
    headers = {"Authorization": f"Bearer {pod.token()}", "Accept": "application/json"}
    body = None if patch is None else msgspec.json.encode(patch)
    if body is not None:
        headers["Content-Type"] = MERGE_PATCH
    try:
        async with (
            ClientSession(connector=TCPConnector(ssl=trust), timeout=ClientTimeout(total=seconds)) as session,
            # A redirect would take the token to somebody else.
            session.request(method, pod.url + path, data=body, headers=headers, allow_redirects=False) as response,
        ):
            status, answer = response.status, await _read(response)
    except (ClientError, OSError) as error:
        refusal = _unreached(pod, error, seconds, is_change=patch is not None)
        log.warning("%s %s: %s", method, path, refusal)
        raise refusal from error
    if status == 200:
        return answer
    refusal = refusal_of(status, answer, what)
    log.warning("%s %s: %s", method, path, refusal)
    raise refusal


async def _read(response: ClientResponse) -> bytes:
    """The whole body; its beginning, where it is larger than any answer that we know."""
    found = bytearray()
    async for chunk in response.content.iter_chunked(65_536):
        found += chunk
        if len(found) > LARGEST_ANSWER:
            break
    return bytes(found[:LARGEST_ANSWER])


def _unreached(pod: Pod, error: BaseException, seconds: float, *, is_change: bool) -> Refusal:
    if isinstance(error, TimeoutError):
        doubt = "; it may have done so all the same: ask for the replicas" if is_change else ""
        return Refusal(KUBERNETES_TIMEOUT, f"{pod.url} has not answered within {seconds:g} s{doubt}")
    if isinstance(error, ClientSSLError | ssl.SSLError):
        return Refusal(KUBERNETES_UNTRUSTED, f"{pod.url} is not who {pod.folder / 'ca.crt'} vouches for: {error}")
    return Refusal(KUBERNETES_UNAVAILABLE, f"{pod.url} cannot be reached: {error or type(error).__name__}")
