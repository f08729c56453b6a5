"""What went wrong with a server, in our words: a status, an exception or an error event becomes a core error.

Pure. Every text says what was expected, what was found and what to do; what a server says itself is quoted, shortened,
freed of escape sequences and control characters, and never holds the key. Deliberately not here: the decision to try
again (`retries`).
"""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import httpx2

from wieldy.connect.models.retries import Timeouts
from wieldy.core.errors import (
    AuthenticationError,
    ModelError,
    ModelUnreachableError,
    ProviderError,
    RateLimitError,
    RequestRefusedError,
)
from wieldy.core.escape_sequences import without_sequences

QUOTE_CHARACTERS = 400
"""How much of a server's own words an error repeats."""

_AUTHENTICATION = (401, 403)
_TRANSIENT = (408, 409, 425, 429)
_NOT_FOUND = 404
_REQUEST_TIMED_OUT = 408
_CONFLICT = 409
_TOO_MANY = 429
_OUT_OF_QUOTA = ("insufficient_quota", "billing_hard_limit_reached")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What an error may say about the server.

    Attributes:
        address: Its base address, without user name and password.
        model: The model that was asked for, if one was named.
        key_help: What to do about a missing or wrong key.
        secret: The key itself, which must not appear in any text.
    """

    address: str
    key_help: str
    model: str | None = None
    secret: str | None = None

    def __repr__(self) -> str:
        return f"ServerFacts(address={self.address!r}, model={self.model!r})"


def failure_of_status(
    server: ServerFacts, *, status: int, headers: Mapping[str, str], body: str, retry_after_s: float | None
) -> ModelError:
    """The error for an answer whose status is not a success."""
    said = _said(server, body)
    if status in _AUTHENTICATION:
        return AuthenticationError(_authentication_text(server, status) + said, status=status)
    if status == _TOO_MANY:
        return _rate_limit(server, body, said=said, headers=headers, retry_after_s=retry_after_s)
    if status >= 500 or status in _TRANSIENT:
        return ProviderError(
            f"{server.address} {_server_trouble(status)} (status {status}).{said}",
            status=status,
            retry_after_s=retry_after_s,
            is_transient=headers.get("x-should-retry") != "false",
        )
    if 300 <= status < 400:
        return RequestRefusedError(
            f"{server.address} redirects to {quoted(headers.get('location', 'nowhere'), server)} (status {status}). "
            "A key is not sent on to another address: use that one as the base address if you trust it.",
            status=status,
        )
    return RequestRefusedError(_refusal_text(server, status) + said, status=status)


def failure_of_event(server: ServerFacts, error: object) -> ModelError:
    """The error that a server reports inside an answer that began well."""
    fields: dict[str, Any] = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    status = next((fields[key] for key in ("code", "status") if fields.get(key) in range(400, 600)), None)
    if status is not None:
        return failure_of_status(server, status=status, headers={}, body=json.dumps(error), retry_after_s=None)
    kinds = {str(fields.get(key)).lower() for key in ("type", "code", "status") if fields.get(key) is not None}
    text = _message_of(cast("object", error)) or json.dumps(error, default=str)
    said = f" It says: {quoted(text, server)}"
    if any("rate_limit" in kind for kind in kinds):
        return RateLimitError(f"{server.address} refuses more requests for now.{said}", is_transient=True)
    if any("authentication" in kind or "permission" in kind for kind in kinds):
        return AuthenticationError(f"{server.address} did not accept the key. {server.key_help}{said}")
    if any("invalid_request" in kind or "not_found" in kind for kind in kinds):
        return RequestRefusedError(f"{server.address} refused the request.{said}")
    return ProviderError(f"{server.address} reported an error instead of an answer.{said}", is_transient=True)


def failure_of_transport(server: ServerFacts, error: httpx2.RequestError, *, timeouts: Timeouts) -> ModelError:
    """The error for a request that got no answer at all."""
    if isinstance(error, httpx2.TimeoutException):
        return _timeout(server, error, timeouts=timeouts)
    causes = tuple(_causes(error))
    lookup = next((cause for cause in causes if isinstance(cause, socket.gaierror)), None)
    if lookup is not None:
        return ModelUnreachableError(
            f"The host name in {server.address} has no address ({quoted(str(lookup), server)}). "
            "Check its spelling and the network connection.",
            is_transient=lookup.errno == socket.EAI_AGAIN,
        )
    tls = next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None)
    if tls is not None:
        return ModelUnreachableError(_tls_text(server, tls))
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return ModelUnreachableError(
            f"Nothing listens at {server.address}. Start the server, or correct the address.", is_transient=True
        )
    return ModelUnreachableError(
        f"The connection to {server.address} failed before an answer began "
        f"({quoted(str(error) or type(error).__name__, server)}).",
        is_transient=not isinstance(error, httpx2.ProxyError | httpx2.UnsupportedProtocol | httpx2.LocalProtocolError),
    )


def failure_in_answer(server: ServerFacts, error: httpx2.RequestError, *, timeouts: Timeouts) -> ModelError:
    """The error for an answer that began and did not end."""
    if isinstance(error, httpx2.TimeoutException):
        return ModelUnreachableError(
            f"{server.address} sent nothing for {timeouts.read_s:g} s in the middle of its answer. "
            "The answer so far is not used."
        )
    return ProviderError(
        f"The answer of {server.address} broke off in the middle "
        f"({quoted(str(error) or type(error).__name__, server)}). The answer so far is not used.",
        is_transient=not isinstance(error, httpx2.SSEError | httpx2.DecodingError),
    )


def is_timeout(error: BaseException) -> bool:
    """Whether it says, or follows from, that a server took too long."""
    return any(isinstance(cause, TimeoutError | httpx2.TimeoutException) for cause in _causes(error))


def not_the_protocol(server: ServerFacts, *, expected: str, found: str) -> ProviderError:
    """The error for an answer that is not what the protocol says."""
    what = "a web page" if _is_html(found) else quoted(found, server) if found.strip() else "nothing"
    return ProviderError(
        f"{server.address} does not speak the expected protocol: expected {expected}, found {what}. "
        f"Check that the address is the base of an API{_version_hint(server)}."
    )


def quoted(text: str, server: ServerFacts) -> str:
    """A server's text in one line, shortened, printable, without the key."""
    text = without_sequences(text)
    if server.secret:
        text = text.replace(server.secret, "[key]")
    line = "".join(character if character.isprintable() else " " for character in text)
    line = re.sub(r" +", " ", line).strip()
    return f"'{line}'" if len(line) <= QUOTE_CHARACTERS else f"'{line[:QUOTE_CHARACTERS]}...'"


def _rate_limit(
    server: ServerFacts, body: str, *, said: str, headers: Mapping[str, str], retry_after_s: float | None
) -> RateLimitError:
    is_used_up = any(code in body for code in _OUT_OF_QUOTA)
    wait = f" It asks to wait {retry_after_s:g} s." if retry_after_s is not None else ""
    what = "has no quota left for this key" if is_used_up else "refuses more requests for now"
    return RateLimitError(
        f"{server.address} {what} (status {_TOO_MANY}).{wait}{said}",
        status=_TOO_MANY,
        retry_after_s=retry_after_s,
        is_transient=not is_used_up and headers.get("x-should-retry") != "false",
    )


def _authentication_text(server: ServerFacts, status: int) -> str:
    if server.secret is None:
        return f"{server.address} wants a key and none was sent (status {status}). {server.key_help}"
    return f"{server.address} did not accept the key (status {status}). {server.key_help}"


def _server_trouble(status: int) -> str:
    if status == _REQUEST_TIMED_OUT:
        return "gave up waiting for the request"
    return "is busy with a conflicting request" if status == _CONFLICT else "failed"


def _refusal_text(server: ServerFacts, status: int) -> str:
    if status != _NOT_FOUND:
        return f"{server.address} refused the request (status {status})."
    model = f" the model {server.model!r}" if server.model else " this model"
    return (
        f"{server.address} does not know{model}, or is not the base address of an API (status {status})."
        f"{' Check both' + _version_hint(server) + '.'}"
    )


def _version_hint(server: ServerFacts) -> str:
    return "" if "/v1" in server.address else "; most end in /v1"


def _timeout(server: ServerFacts, error: httpx2.TimeoutException, *, timeouts: Timeouts) -> ModelUnreachableError:
    if isinstance(error, httpx2.ConnectTimeout):
        return ModelUnreachableError(
            f"{server.address} took no connection within {timeouts.connect_s:g} s. "
            "Check the address, the network and whether the server is overloaded.",
            is_transient=True,
        )
    # Not transient: the server may still be at work on the first request, and a second one doubles its load.
    return ModelUnreachableError(
        f"{server.address} sent nothing within {timeouts.read_s:g} s. "
        "The server hangs, or needs longer for its first word: raise the read time-out if it is only slow."
    )


def _tls_text(server: ServerFacts, error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        todo = "Check the address, the clock of this machine, and that its certificate store knows the issuer."
    else:
        todo = "If the server speaks plain HTTP, use http:// instead of https://."
    return f"No secure connection to {server.address} ({quoted(str(error), server)}). {todo}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and everything that led to it, groups opened."""
    waiting = [error]
    seen: set[int] = set()
    while waiting:
        cause = waiting.pop(0)
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting += [cause.__cause__, cause.__context__]
        if isinstance(cause, BaseExceptionGroup):
            waiting += cast("tuple[BaseException, ...]", cause.exceptions)


def _said(server: ServerFacts, body: str) -> str:
    if not body.strip():
        return ""
    if _is_html(body):
        return " It sent a web page, so something other than an API may have answered."
    try:
        text = _message_of(json.loads(body)) or body
    except (ValueError, RecursionError):
        text = body
    return f" It says: {quoted(text, server)}"


def _message_of(value: object) -> str | None:
    for _ in range(4):
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            value = next(iter(cast("list[Any]", value)), None)
        if not isinstance(value, dict):
            return None
        fields = cast("dict[str, Any]", value)
        value = next((fields[key] for key in ("error", "message", "detail", "msg") if fields.get(key)), None)
    return None


def _is_html(text: str) -> bool:
    return text.lstrip()[:200].lower().startswith(("<!doctype html", "<html", "<head"))
