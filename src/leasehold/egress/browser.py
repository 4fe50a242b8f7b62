"""Sends requests for an identity. The only module that knows httpx."""

from __future__ import annotations

import re
import ssl
from functools import cache
from typing import TYPE_CHECKING, Any

from leasehold.egress.answers import EgressMissing, HostUnreachable
from leasehold.egress.identity import LeasedIdentity

if TYPE_CHECKING:
    from httpx import Response


class ProxyFailed(Exception):
    """The proxy of the identity does not answer, or refuses us."""


class Browser:
    """A session of one identity: its headers, its proxy, its cookies and its connections.

    Args:
        identity: whose.
        timeout: seconds for each step of a request.

    Raises:
        EgressMissing: httpx is not installed.
    """

    def __init__(self, identity: LeasedIdentity, timeout: float) -> None:
        try:
            import httpx  # noqa: PLC0415 - an extra
        except ImportError:
            raise EgressMissing from None
        self._httpx = httpx
        self._proxied = identity.proxy is not None
        auth = None if identity.proxy_user is None else (identity.proxy_user, identity.proxy_password or "")
        proxy = None if identity.proxy is None else httpx.Proxy(identity.proxy, auth=auth)
        # Proxies of the environment would give all identities one address.
        self._client = httpx.AsyncClient(
            headers=identity.headers,
            proxy=proxy,
            timeout=timeout,
            follow_redirects=True,
            trust_env=False,
            verify=_trusted(),
        )

    async def send(self, method: str, url: str, **options: Any) -> Response:
        """Send a request; `options` as in httpx.

        Raises:
            ProxyFailed: the proxy cannot be reached, or refuses the identity.
            HostUnreachable: the server does not answer.
        """
        try:
            response = await self._client.request(method, url, **options)
        except self._httpx.ProxyError as error:
            raise ProxyFailed(str(error)) from error
        except self._httpx.HTTPError as error:
            if self._proxied and isinstance(error, self._httpx.ConnectError):
                raise ProxyFailed(str(error)) from error
            raise HostUnreachable(f"{without_query(url)}: {str(error) or type(error).__name__}") from error
        if response.status_code == 407 and self._proxied:
            raise ProxyFailed("the proxy answered 407")
        return response

    async def read_text(self, url: str) -> tuple[int, str]:
        """The status and the text at a URL."""
        response = await self.send("GET", url)
        return response.status_code, response.text

    async def close(self) -> None:
        """Close its connections."""
        await self._client.aclose()


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates of the system, which take long to load."""
    return ssl.create_default_context()


def without_query(url: str) -> str:
    """The URL for messages: queries, users and passwords may be secrets."""
    return re.sub(r"//[^/@]*@", "//", url).split("?")[0]
