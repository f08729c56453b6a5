"""What a model behind a server is built from: address, key and options, checked before anything is sent.

Pure; nothing is read from the environment. An address may carry a user name and a password: they are sent, and never
shown.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

import httpx2

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue

_EXPECTED = "Expected an address such as http://127.0.0.1:8000/v1"
_SHOWN_CHARACTERS = 200
_ENDPOINTS = ("/chat/completions", "/completions", "/messages", "/models")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a server is.

    Attributes:
        url: The base address as it is used, without a slash at its end.
        shown: The same without user name and password, for people and records.
        host: The host alone, in lower case.
        root: The same address without a path.
    """

    url: str = field(repr=False)
    shown: str
    host: str
    root: str = field(repr=False, default="")

    @property
    def is_local(self) -> bool:
        """Whether it is this machine."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost" or self.host.endswith(".localhost")


def parse_address(text: str) -> Address:
    """The address in a text such as `http://127.0.0.1:8000/v1`; the path of an endpoint at its end is dropped.

    Raises:
        UsageError: It is no http or https address, or has a query or a fragment.
    """
    parts = _split(text.strip())
    path = parts.path.rstrip("/")
    for endpoint in _ENDPOINTS:
        path = path.removesuffix(endpoint)
    server = parts.netloc.rpartition("@")[2]
    return Address(
        url=f"{parts.scheme}://{parts.netloc}{path}",
        shown=f"{parts.scheme}://{server}{path}",
        host=(parts.hostname or "").lower(),
        root=f"{parts.scheme}://{parts.netloc}",
    )


def _split(text: str) -> SplitResult:
    shown = repr(text.rpartition("@")[2][:_SHOWN_CHARACTERS])
    try:
        parts = urlsplit(text)
        # Reading the port is what checks it; the client checks the host.
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        httpx2.URL(text)
    except (ValueError, httpx2.InvalidURL) as error:
        raise UsageError(f"{_EXPECTED}, found {shown}, which cannot be read: {error}") from error
    if not is_address or "\\" in text or any(mark.isspace() or not mark.isprintable() for mark in text):
        raise UsageError(f"{_EXPECTED}, found {shown}")
    if parts.query or parts.fragment:
        raise UsageError(f"{_EXPECTED}, without a '?' or '#' part; found {shown}")
    return parts


def checked_key(key: str | None) -> str | None:
    """The key without surrounding blanks; None if there is none.

    Raises:
        UsageError: It holds a character that no HTTP header can carry. The text does not repeat it.
    """
    stripped = (key or "").strip()
    if not stripped:
        return None
    if not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise UsageError(
            "The key holds a blank, a line break or a character outside ASCII, so it was probably copied with "
            "something else. Copy it again."
        )
    return stripped


def checked_options(options: Mapping[str, JsonValue] | None, *, reserved: Sequence[str]) -> JsonObject:
    """The options as a dictionary of their own.

    Raises:
        UsageError: One of them is decided elsewhere.
    """
    clash = sorted(set(options or ()) & set(reserved))
    if clash:
        raise UsageError(f"options={{{clash[0]!r}: ...}} cannot be set: every request decides it by itself")
    return dict(options or {})
