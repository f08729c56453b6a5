"""Who may ask: whoever knows the key of the address that was printed, with a browser on this machine.

The key is given once and answered with a cookie that no script and no other site can use. Law: nothing of the journal
is answered to a request without that cookie, to one that names another host (as a name does that was pointed here), or
to one that comes from a page of another origin. Source: RFC 6265bis (SameSite), Fetch Metadata Request Headers.
Deliberately not here: what is answered (`application`).
"""

from __future__ import annotations

import hmac
import re
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

KEY: Final = "key"
"""The parameter of the address."""

# Any port: a tunnel may end at another one here than the server listens on.
_HERE: Final = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.IGNORECASE)

_HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
# A page, and not a redirection: a browser that was led here from elsewhere sends the cookie only where this page leads.
_ENTERED: Final = (
    b'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><title>Wieldy</title>'
    b'<a href="/">The runs</a>'
)


class Door:
    """An ASGI application that only those reach who may.

    Args:
        app: What is behind.
        name: Of the cookie: another one for each port, since browsers keep cookies of all ports together.
    """

    def __init__(self, app: Any, *, name: str) -> None:
        self._app = app
        self._name = name
        self._key, self._session = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._tickets: set[str] = set()

    @property
    def query(self) -> str:
        """What an address needs behind `?`."""
        return f"{KEY}={self._key}"

    def ticket(self) -> str:
        """The same, for one use: others on this machine may see with what a program was started."""
        ticket = secrets.token_urlsafe(32)
        self._tickets.add(ticket)
        return f"{KEY}={ticket}"

    async def __call__(
        self, scope: MutableMapping[str, Any], receive: Callable[[], Awaitable[Any]], send: Send
    ) -> None:
        """As ASGI has it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        refusal = _refusal(scope)
        if refusal is not None:
            await _answer(send, 403, refusal.encode())
            return
        given = parse_qs(scope["query_string"].decode("latin-1")).get(KEY) if scope["path"] == "/" else None
        if given and self._is_key(given[0]):
            cookie = f"{self._name}={self._session}; HttpOnly; SameSite=Strict; Path=/"
            headers = [(b"content-type", b"text/html; charset=utf-8"), (b"set-cookie", cookie.encode())]
            await _answer(send, 200, _ENTERED, headers)
        elif not self._is_known(scope):
            words = "Open the address that `wieldy view` has printed: the key of this page is in it."
            await _answer(send, 401, words.encode())
        else:
            await self._app(scope, receive, _with_headers(send))

    def _is_key(self, given: str) -> bool:
        if given in self._tickets:
            self._tickets.discard(given)
            return True
        return hmac.compare_digest(given.encode(), self._key.encode())

    def _is_known(self, scope: MutableMapping[str, Any]) -> bool:
        is_known = False
        for text in _headers(scope, b"cookie"):
            try:
                found = SimpleCookie(text).get(self._name)
            except CookieError:
                continue
            if found is not None and hmac.compare_digest(found.value.encode(), self._session.encode()):
                is_known = True
        return is_known


def _refusal(scope: MutableMapping[str, Any]) -> str | None:
    """Why a request is not answered, whoever it is from; None if it may be."""
    hosts = _headers(scope, b"host")
    if len(hosts) != 1 or _HERE.fullmatch(hosts[0]) is None:
        return "Expected a request to 127.0.0.1 or localhost, found another host."
    origins = _headers(scope, b"origin")
    if any(origin != f"http://{hosts[0]}" for origin in origins):
        return "Expected a request of this page, found one of another origin."
    if scope["method"] not in ("GET", "HEAD") and not origins:
        return "Expected a request of this page, found one without an origin."
    sites = _headers(scope, b"sec-fetch-site")
    if scope["path"] != "/" and any(site not in ("same-origin", "none") for site in sites):
        return "Expected a request of this page, found one of another site."
    return None


def _headers(scope: MutableMapping[str, Any], wanted: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == wanted]


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *_HEADERS]}
        await send(message)

    return sending


async def _answer(
    send: Send,
    status: int,
    body: bytes,
    headers: list[tuple[bytes, bytes]] | None = None,
) -> None:
    headers = headers or [(b"content-type", b"text/plain; charset=utf-8")]
    policy = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length, policy, *_HEADERS]})
    await send({"type": "http.response.body", "body": body})
