"""The official SDK, in whichever of its two major versions is installed: the one place that chooses between them.

It is imported when the first connection is made, because it takes half a second. Deliberately not here: anything that
is the same in both (`stdio`, `http`, `supervisor`).
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Protocol

from wieldy.core.errors import UsageError
from wieldy.core.extras import installing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wieldy.connect.mcp.client.port import Hooks, Session, Streams, Transport
    from wieldy.connect.mcp.client.stdio import Codec

CLIENT_NAME = "wieldy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A server behind a URL.

    Attributes:
        headers: Sent with every request, and to no other origin.
        is_sse: Whether it speaks the older transport of two endpoints.
        auth: What logs in, in the terms of the HTTP library that the SDK uses; the SDK has some for OAuth.
    """

    url: str
    headers: Mapping[str, str]
    is_sse: bool = False
    auth: object = None

    def __repr__(self) -> str:
        return f"Address({self.url!r}, {len(self.headers)} headers)"


class Sdk(Protocol):
    """What both versions can do."""

    codec: Codec
    """How messages are read and written."""

    def over_http(self, address: Address) -> Transport:
        """The transport to a URL."""
        ...

    def in_memory(self, server: object) -> Transport:
        """The transport to a server object of the SDK in this process.

        Raises:
            UsageError: It is none.
        """
        ...

    def session(self, streams: Streams, hooks: Hooks) -> AbstractAsyncContextManager[Session]:
        """The session over two streams; entered once the server has answered who it is."""
        ...


def load() -> Sdk:
    """The SDK that is installed.

    Raises:
        UsageError: There is none, or one of a version that is not known.
    """
    try:
        major = int(version("mcp").partition(".")[0])
    except PackageNotFoundError:
        raise UsageError(f"Servers of tools need the MCP library. Install it: {installing('mcp')}.") from None
    # Imported here because only one of them can be.
    if major == 1:
        from wieldy.connect.mcp.client.sdk_v1 import SdkV1  # noqa: PLC0415

        return SdkV1()
    if major == 2:  # the version after 1, whose interface is another one
        from wieldy.connect.mcp.client.sdk_v2 import SdkV2  # noqa: PLC0415

        return SdkV2()
    raise UsageError(f"Expected version 1 or 2 of the MCP library, found {version('mcp')}: pip install 'mcp>=1.27,<3'.")
