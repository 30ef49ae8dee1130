"""The connection to a server: the environment's proxy and certificates, and diagnosis of failures.

Quorum's clients get only the proxy for their own address, so that environment variables for other addresses (a SOCKS
proxy for all, an address without a scheme) cannot break them. aiohttp, which the SDKs use, supports only HTTP proxies
(docs.aiohttp.org, "Proxy support").
"""

from __future__ import annotations

import base64
import os
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from quorum.agents.llm.errors import Unreachable

_PORTS = {"http": 80, "https": 443}
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy, and the environment variable that names it.

    Attributes:
        url: its address; it may hold a password.
        variable: the variable's name as set, in upper or lower case.
    """

    url: str
    variable: str

    @property
    def place(self) -> str:
        """Host and port, without a password."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{_port(parts)}"


def find_proxy(address: str) -> Proxy | None:
    """Return the proxy for an address: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, unless `NO_PROXY`.

    Raises:
        Unreachable: the proxy is unusable.
    """
    parts = urlsplit(address)
    host = parts.hostname or ""
    if not host or proxy_bypass(f"{host}:{_port(parts)}") or proxy_bypass(host):
        return None
    known = getproxies()
    kind = next((kind for kind in (parts.scheme, "all") if known.get(kind)), None)
    if kind is None:
        return None
    variable = next((n for n in (f"{kind}_proxy", f"{kind}_PROXY".upper()) if os.environ.get(n)), "the system")
    url = known[kind] if "://" in known[kind] else f"http://{known[kind]}"
    proxy = Proxy(url, variable)
    if (scheme := urlsplit(url).scheme) not in _PORTS:
        what = "a SOCKS proxy" if scheme.startswith("socks") else f"a {scheme} proxy"
        raise Unreachable(f"{variable} names {what}, which cannot be used", _around(proxy, host, "an HTTP proxy"))
    return proxy


def load_certificates(make: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    """Return the certificates that a library trusts.

    Args:
        make: the library's function, which reads `SSL_CERT_FILE` and `SSL_CERT_DIR`.

    Raises:
        Unreachable: a variable names a file or folder without certificates.
    """
    try:
        return make()
    except OSError as error:
        name = next((name for name in _CERTIFICATES if os.environ.get(name)), None)
        if name is None:
            raise
        why = "does not exist" if isinstance(error, FileNotFoundError) else "holds no certificates that can be read"
        raise Unreachable(f"{name} names {os.environ[name]}, which {why}", f"Correct {name}, or unset it.") from None


def find_fault(address: str, seconds: float, certificates: ssl.SSLContext | None = None) -> Unreachable | None:
    """Connect to a server, through its proxy and with certificate checks, and hang up; return the reason for a failure.

    Nothing is sent to the server, so it costs nothing.

    Args:
        address: address of the server.
        seconds: time limit for the connection.
        certificates: trusted certificates; for https only.
    """
    parts = urlsplit(address)
    host, port = parts.hostname or "", _port(parts)
    try:
        proxy = find_proxy(address)
        way = urlsplit(proxy.url) if proxy is not None else parts
        first = (way.hostname or "", _port(way))
        connection: HTTPConnection = HTTPConnection(*first, timeout=seconds)
        if parts.scheme == "https":
            connection = HTTPSConnection(*first, timeout=seconds, context=certificates)
            if proxy is not None:
                connection.set_tunnel(host, port, headers=_credentials(way))
        try:
            connection.connect()
        finally:
            connection.close()
    except Unreachable as fault:
        return fault
    except (OSError, HTTPException, ValueError) as error:
        return _explained(error, parts, proxy, seconds)
    return None


def _explained(error: Exception, parts: SplitResult, proxy: Proxy | None, seconds: float) -> Unreachable:
    host, place = parts.hostname or "", f"{parts.hostname}:{_port(parts)}"
    if isinstance(error, ssl.SSLCertVerificationError):
        named = " and ".join(f"{name} names {path}" for name in _CERTIFICATES if (path := os.environ.get(name)))
        remedy = f"{named}: no certificate there has signed it." if named else ""
        more = "Name a file with the certificate that signed it: export SSL_CERT_FILE=FILE."
        why = error.verify_message or error.reason
        return Unreachable(f"the certificate of {place} is not trusted: {why}", f"{remedy} {more}".strip())
    if isinstance(error, ssl.SSLError):
        return Unreachable(f"{place} does not answer over TLS ({error.reason})", f"Try http://{place} in llm.base_url.")
    why = _reason(error, seconds)
    if proxy is None:
        return Unreachable(f"no connection to {place}: {why}")
    if str(error).startswith("Tunnel connection failed"):
        why = str(error).partition(": ")[2]
        return Unreachable(f"the proxy {proxy.place} ({proxy.variable}) refuses {place}: {why}", _around(proxy, host))
    return Unreachable(f"no connection to the proxy {proxy.place} ({proxy.variable}): {why}", _around(proxy, host))


def _around(proxy: Proxy, host: str, other: str = "another one") -> str:
    name = proxy.variable
    direct = f"connect to {host} without a proxy: export NO_PROXY={host}."
    return f"Name {other} ({name}=http://HOST:PORT), unset {name}, or {direct}"


def _reason(error: Exception, seconds: float) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "the connection was refused"
    if isinstance(error, socket.gaierror):
        return "no host has this name"
    if isinstance(error, TimeoutError):
        return f"nothing answers within {seconds:g} s (llm.connect_timeout)"
    said = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return said[:1].lower() + said[1:]


def _credentials(proxy: SplitResult) -> Mapping[str, str]:
    if proxy.username is None:
        return {}
    said = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(said.encode()).decode()}"}


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS.get(parts.scheme, 80)
