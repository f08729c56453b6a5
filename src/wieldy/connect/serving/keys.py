"""Who calls: bearer keys, each of one principal.

Law: only digests of keys are kept, a key that was presented is compared with all of them in the same time whether it
fits or not, and it goes no further than here: what is behind does not see the header. Deliberately not here: where keys
come from (`gateway.config`), and what a principal may do.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterable, Mapping, MutableMapping
from contextvars import ContextVar
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, cast

from wieldy.core.errors import UsageError
from wieldy.core.principals import Principal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from wieldy.core.json import JsonObject

SHORTEST_KEY: Final = 16
"""In characters: whoever guesses has to try for longer than there is."""

PRINCIPAL: Final = "wieldy.principal"
"""Where an ASGI scope says who calls."""

_CALLER: Final = ContextVar[Principal | None]("_CALLER", default=None)
_SHA256: Final = re.compile(r"[0-9a-fA-F]{64}")
_REFUSED: Final = "Expected a key in the header `Authorization: Bearer KEY`, found {found}."


class Keys:
    """The keys that are known.

    Args:
        digests: SHA-256 of a key in hexadecimal, and whose key it is.

    Raises:
        UsageError: There is none, or one is no such digest.
    """

    def __init__(self, digests: Iterable[tuple[str, Principal]]) -> None:
        self._known = tuple((digest_in(text, principal.name), principal) for text, principal in digests)
        if not self._known:
            raise UsageError("Expected at least one key, found none: nobody could call.")

    @classmethod
    def of(cls, keys: Mapping[str, str] | Mapping[Principal, str]) -> Keys:
        """The keys themselves, by their principals or by the names of these.

        Raises:
            UsageError: There is none, or one is too short.
        """
        named = ((Principal(name=who) if isinstance(who, str) else who, key) for who, key in keys.items())
        return cls((digest_of(key, principal.name), principal) for principal, key in named)

    def __repr__(self) -> str:
        return f"Keys({', '.join(repr(principal.name) for _, principal in self._known)})"

    def principal_of(self, authorization: str | None) -> Principal | None:
        """Whose key an `Authorization` header holds; None if it is nobody's."""
        scheme, _, key = (authorization or "").strip().partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            return None
        presented = sha256(key.strip().encode()).digest()
        found: Principal | None = None
        for known, principal in self._known:  # all of them, so that the time says nothing
            if hmac.compare_digest(known, presented):
                found = principal
        return found


def keys_from(keys: Keys | Mapping[str, str] | None) -> Keys | None:
    """The keys that are meant, given as such or by name.

    Raises:
        UsageError: One is too short.
    """
    return keys if keys is None or isinstance(keys, Keys) else Keys.of(keys)


def digest_of(key: str, name: str) -> str:
    """What is kept of a key.

    Raises:
        UsageError: It is too short.
    """
    if len(key.strip()) < SHORTEST_KEY:
        raise UsageError(
            f"The key of {name!r}: expected at least {SHORTEST_KEY} characters, found {len(key.strip())}. Make one, "
            "such as with `openssl rand -hex 32`."
        )
    return sha256(key.strip().encode()).hexdigest()


def digest_in(text: str, name: str) -> bytes:
    """The digest that stands in the text.

    Raises:
        UsageError: It is none.
    """
    if not _SHA256.fullmatch(text):
        raise UsageError(
            f"The key of {name!r}: expected a SHA-256 as 64 hexadecimal digits, found another text of {len(text)} "
            "characters."
        )
    return bytes.fromhex(text)


def _refusal(message: str) -> JsonObject:
    return {"error": {"kind": "unauthenticated", "message": message}}


class Guarded:
    """An ASGI application that only those with a key reach; it finds the principal in the scope, and no key."""

    def __init__(
        self,
        app: Any,
        keys: Keys | None,
        *,
        otherwise: Principal | None = None,
        refusal: Callable[[str], JsonObject] = _refusal,
    ) -> None:
        self._app = app
        self._keys = keys
        self._refusal = refusal  # the body for those without a key, of what is to be said
        self._otherwise = otherwise  # who calls where there are no keys

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        """As ASGI has it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        said = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
        principal = self._otherwise
        if self._keys is not None:
            principal = self._keys.principal_of(said[0].decode("latin-1") if len(said) == 1 else None)
        if self._keys is not None and principal is None:
            found = "none" if not said else "one that is not known"
            await _refuse(send, self._refusal(_REFUSED.format(found=found)))
            return
        headers = [(name, value) for name, value in scope["headers"] if name.lower() != b"authorization"]
        token = _CALLER.set(principal)
        try:
            await self._app({**scope, "headers": headers, PRINCIPAL: principal}, receive, send)
        finally:
            _CALLER.reset(token)


def principal_in(scope: Mapping[str, Any]) -> Principal | None:
    """Who calls, as `Guarded` has found out."""
    return cast("Principal | None", scope.get(PRINCIPAL))


def principal_now() -> Principal | None:
    """The same for the request that is being answered, where no scope is at hand."""
    return _CALLER.get()


async def _refuse(send: Callable[[MutableMapping[str, Any]], Awaitable[None]], refusal: JsonObject) -> None:
    body = json.dumps(refusal).encode()
    headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})
