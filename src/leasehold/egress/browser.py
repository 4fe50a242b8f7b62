"""Sends requests for an identity. The only module that knows httpx."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any

from leasehold.egress.answers import AddressInside, EgressMissing, HostUnreachable
from leasehold.egress.identity import LeasedIdentity
from leasehold.errors import BadInput

if TYPE_CHECKING:
    from httpx import URL, Response

TRANSLATED = IPv6Network("64:ff9b::/96")
"""Addresses of IPv4 as networks without it write them (RFC 6052)."""


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
        self._timeout = timeout
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
        with self._naming_errors(url):
            response = await self._client.request(method, url, **options)
        if response.status_code == 407 and self._proxied:
            raise ProxyFailed("the proxy answered 407")
        return response

    async def read_text(self, url: str) -> tuple[int, str]:
        """The status and the text at a URL."""
        response = await self.send("GET", url)
        return response.status_code, response.text

    async def look(self, url: str, *, only_public: bool) -> tuple[int, Mapping[str, str]]:
        """Ask for a page: the status and the headers of the first answer. Its body is not read, and no redirect is followed.

        Args:
            url: of the page.
            only_public: without a proxy, connect to public addresses alone. Which host a proxy asks is up to the proxy.

        Raises:
            BadInput: it is no URL.
            AddressInside: the host has an address that is not public.
            ProxyFailed, HostUnreachable: as `send`; the whole takes no longer than the timeout.
        """
        import anyio  # noqa: PLC0415 - comes with httpx

        try:
            with anyio.fail_after(self._timeout), self._naming_errors(url):
                asked = self._httpx.URL(url)
                # The name is looked up once: who could answer with another address later shall gain nothing by it.
                address = await _public_address(asked) if only_public and not self._proxied else asked.host
                named: dict[str, Any] = {
                    "headers": {"Host": asked.netloc.decode()},
                    "extensions": {"sni_hostname": asked.raw_host.decode()},
                }
                request = self._client.build_request("GET", asked.copy_with(host=address), **named)
                response = await self._client.send(request, stream=True, follow_redirects=False)
                await response.aclose()
        except self._httpx.InvalidURL as error:
            raise BadInput(f"{without_query(url)!r} is no URL: {error}") from error
        except (TimeoutError, OSError, UnicodeError) as error:  # the last: no name of a host
            message = str(error) or f"no answer within {self._timeout:g} s"
            raise HostUnreachable(f"{without_query(url)}: {message}") from error
        return response.status_code, response.headers

    @contextmanager
    def _naming_errors(self, url: str) -> Generator[None]:
        """What goes wrong inside is the proxy's fault or the host's."""
        try:
            yield
        except self._httpx.ProxyError as error:
            raise ProxyFailed(str(error)) from error
        except self._httpx.HTTPError as error:
            if self._proxied and isinstance(error, self._httpx.ConnectError):
                raise ProxyFailed(str(error)) from error
            raise HostUnreachable(f"{without_query(url)}: {str(error) or type(error).__name__}") from error

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


async def _public_address(url: URL) -> str:
    """The first address of the host. Raises AddressInside if one of them is not public."""
    import anyio  # noqa: PLC0415 - comes with httpx

    found = await anyio.getaddrinfo(url.raw_host, url.port, type=socket.SOCK_STREAM)
    for *_, (address, *_) in found:
        if not is_public(address):
            raise AddressInside(
                f"{url.host} has the address {address}, which is not public; this identity has no proxy"
            )
    return found[0][-1][0]


def is_public(address: str) -> bool:
    """Whether an address is one of the internet: not of this machine, a private network, a link, or many receivers."""
    number = ip_address(address.partition("%")[0])
    if isinstance(number, IPv6Address):
        inner = IPv4Address(int(number) & 0xFFFF_FFFF) if number in TRANSLATED else None
        number = inner or number.ipv4_mapped or number.sixtofour or number
    return number.is_global and not number.is_multicast
