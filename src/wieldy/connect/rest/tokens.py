"""Access tokens that a client gets for its own secret, kept until they expire.

Source: RFC 6749, section 4.4 "Client Credentials Grant" and 2.3.1 "Client Password".
Law: a secret goes only to an address that begins with https, or is on this machine. Deliberately not here: flows in
which a person takes part; a token from one of those is given as it is.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote_plus, urlencode, urljoin, urlsplit

import httpx2

from wieldy.connect.rest.client import ServiceClient, TooLargeError
from wieldy.connect.rest.reading import object_of, text_of
from wieldy.connect.rest.requests import Request
from wieldy.connect.rest.security import Scheme, Secrets
from wieldy.core.errors import ToolError, TransientToolError

_EARLY_S: Final = 30.0
"""So long before it expires a token is not used any more."""
_LASTS_S: Final = 300.0
"""How long a token is kept of which the server does not say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    text: str
    ends: float

    def __repr__(self) -> str:
        return f"_Token(ends={self.ends!r})"


class Tokens:
    """The tokens of one service, by security scheme.

    Args:
        client: Sends requests.
        base: From which an address without a host is meant.
        clock: Seconds that only grow.
    """

    def __init__(self, client: ServiceClient, *, base: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._base = base
        self._clock = clock
        self._tokens: dict[str, _Token] = {}

    @property
    def texts(self) -> dict[str, str]:
        """The tokens that are known, by what masks them."""
        return {f"{name} (token)": token.text for name, token in self._tokens.items()}

    def forget(self, scheme: Scheme) -> None:
        """The service does not take its token any more."""
        self._tokens.pop(scheme.name, None)

    async def token_for(self, scheme: Scheme, secret: Mapping[str, str]) -> str:
        """A token for the client.

        Raises:
            ToolError: There is none.
        """
        token = self._tokens.get(scheme.name)
        if token is None or self._clock() >= token.ends:
            token = self._tokens[scheme.name] = await self._fetched(scheme, secret)
        return token.text

    async def _fetched(self, scheme: Scheme, secret: Mapping[str, str]) -> _Token:
        url = secret.get("token_url") or scheme.token_url
        address = _joined(self._base, url)
        if not _is_safe(address):
            raise ToolError(
                f"The credential {scheme.name!r} needs an address that begins with https to get a token from, found "
                f"{address!r}. Say that it has to be configured with token_url."
            )
        fields = {"grant_type": "client_credentials", **({"scope": secret["scope"]} if secret.get("scope") else {})}
        who = f"{quote_plus(secret['client_id'])}:{quote_plus(secret['client_secret'])}".encode()
        headers = [("Authorization", f"Basic {base64.b64encode(who).decode('ascii')}")]
        request = Request(
            method="POST",
            url=address,
            headers=(("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded")),
            content=urlencode(fields).encode(),
        )
        failure = f"No token could be got for the credential {scheme.name!r}"
        try:
            response = await self._client.send(request, Secrets(headers=headers, query=[], cookies=[]))
        except (httpx2.RequestError, TimeoutError, TooLargeError) as error:
            reason = type(error).__name__
            raise TransientToolError(f"{failure}: {reason}. Try again later.", nothing_done=True) from error
        return self._read(response.status, response.content, failure)

    def _read(self, status: int, content: bytes, failure: str) -> _Token:
        try:
            answer = object_of(json.loads(content)) if status == 200 else {}
        except (ValueError, RecursionError):
            answer = {}
        text = text_of(answer.get("access_token"))
        if not text:
            raise ToolError(f"{failure}: the server answered {status}. Say that the credentials have to be seen to.")
        lasts = answer.get("expires_in")
        lasts_s = float(lasts) if isinstance(lasts, int | float) and lasts > 0 else _LASTS_S
        return _Token(text=text, ends=self._clock() + max(lasts_s - _EARLY_S, lasts_s / 2))


def _joined(base: str, url: str) -> str:
    """The address that is meant; what cannot be read is left as it is."""
    try:
        return urljoin(base, url) if url else ""
    except ValueError:
        return url


def _is_safe(address: str) -> bool:
    """Whether a secret may be sent there: over TLS, or within this machine."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (
        parts.scheme == "https" or (parts.scheme == "http" and host in {"localhost", "127.0.0.1", "::1"})
    )
