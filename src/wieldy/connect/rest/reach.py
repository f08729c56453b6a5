"""Whether an address lies in the open network, or on this machine and in private networks.

What a URL looks like does not say it: the system takes `127.1` and `0x7f.0.0.1` for this machine, and any name may lead
there. So a name is looked up, and whoever asks connects to the very address that was found: looked up once more, the
name could lead elsewhere. Deliberately not here: which redirects are followed (`client`).
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import anyio

LookUp: TypeAlias = Callable[[str, int], Awaitable[list[tuple[Any, ...]]]]
"""The addresses of a name, in the form of `socket.getaddrinfo`."""

_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_NUMBER: Final = re.compile(r"\d*|0x[0-9a-f]*")
_PRIVATE_ENDINGS: Final = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


async def look_up(host: str, port: int) -> list[tuple[Any, ...]]:
    """What the system says."""
    return [*await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def looks_private(url: str) -> bool:
    """Whether the address, as it is written, is of this machine or a private network, or cannot be told to be none.

    A host that ends in a number is an address; each system and proxy reads the unusual forms in its own way.
    """
    host = (urlsplit(url).hostname or "").lower().rstrip(".")
    try:
        return not is_open(host)
    except ValueError:
        ending = host.rpartition(".")[2]
        return ending == host or host.endswith(_PRIVATE_ENDINGS) or _NUMBER.fullmatch(ending) is not None


def is_open(address: str) -> bool:
    """Whether this address of the internet protocol is one that the whole network can reach.

    Raises:
        ValueError: It is none.
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        within = found.ipv4_mapped or found.sixtofour
        if within is None and found in _NAT64:
            within = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if within is not None:
            return within.is_global
    return found.is_global


async def open_address(url: str, look: LookUp = look_up) -> str | None:
    """The address to connect to for this URL, in the open network; None where one of its addresses is a private one.

    Raises:
        OSError: There is none.
        ValueError: The URL is none.
    """
    parts = urlsplit(url)
    found = await look(parts.hostname or "", parts.port or {"https": 443}.get(parts.scheme, 80))
    addresses = [str(each[4][0]) for each in found]
    return addresses[0] if addresses and all(map(is_open, addresses)) else None


def has_proxy(url: str) -> bool:
    """Whether the settings of the environment send such a request to a proxy, which looks names up itself."""
    parts, proxies = urlsplit(url), getproxies()
    return bool(proxies.get(parts.scheme) or proxies.get("all")) and not proxy_bypass(parts.hostname or "")


def at_address(url: str, address: str) -> str:
    """The URL with the address in place of the name."""
    parts = urlsplit(url)
    host = f"[{address}]" if ":" in address else address
    return parts._replace(netloc=host if parts.port is None else f"{host}:{parts.port}").geturl()
