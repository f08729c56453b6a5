"""One call of an operation: the request is made, sent with its secrets, and the answer read or turned into an error.

Deliberately not here: trying again. What may be repeated is said by the error, and the runtime decides.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import httpx2

from wieldy.connect.models.retries import parse_retry_after
from wieldy.connect.rest.client import ServiceClient, TooLargeError
from wieldy.connect.rest.paging import next_arguments
from wieldy.connect.rest.plans import Plan
from wieldy.connect.rest.requests import Request, make_request
from wieldy.connect.rest.responses import Response, failure_of, value_of
from wieldy.connect.rest.security import Credentials, Scheme, Secrets, chosen, unanswerable
from wieldy.connect.rest.service import Service
from wieldy.connect.rest.tokens import Tokens
from wieldy.core.calls import Effect
from wieldy.core.errors import OutcomeUnknownError, ToolError, TransientToolError
from wieldy.core.json import JsonObject, JsonValue, is_json
from wieldy.run.results.masks import SHORTEST_SECRET, Mask

_NEVER_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What one call brought.

    Attributes:
        value: As the tool returns it.
        following: The arguments of the call for the next page; None where there is none.
    """

    value: object
    following: JsonObject | None


class Caller:
    """Calls the operations of one service.

    Args:
        service: What the document says.
        credentials: The secrets.
        client: Sends requests.
        now: Seconds since the epoch, to read a `Retry-After` that is a date.
    """

    def __init__(
        self, service: Service, credentials: Credentials, client: ServiceClient, *, now: Callable[[], float] = time.time
    ) -> None:
        self._service = service
        self._credentials = credentials
        self._client = client
        self._now = now
        self._tokens: Tokens | None = None

    async def call(
        self, plan: Plan, arguments: JsonObject, *, effect: Effect, idempotency_key: str, name: str | None = None
    ) -> Page:
        """What the service answers.

        Args:
            plan: The operation.
            arguments: As the tool's schema has them.
            effect: What the call does.
            idempotency_key: The same for each attempt.
            name: Under which the tool was called, if not the operation's.

        Raises:
            ModelVisibleError: It does not, or answers that it failed; the error says what is known of the effect.
        """
        name = name or plan.operation.name
        server, reason = self._service.server_of(plan.operation)
        if not server:
            raise ToolError(f"`{name}` cannot be called: {reason}. Say so; asking again does not help.")
        request = make_request(plan, arguments, server=server, idempotency_key=idempotency_key)
        known = self._service.schemes
        schemes, missing = chosen(plan.requirements, known.known, self._credentials)
        response = await self._answer(name, request, schemes, effect=effect, server=server)
        mask = self._mask()
        if not response.is_success:
            retry_after_s = parse_retry_after(response.headers, now=self._now)
            unsupported = unanswerable(plan.requirements, known)
            raise failure_of(
                response, name=name, mask=mask, retry_after_s=retry_after_s, missing=missing, unsupported=unsupported
            )
        value = value_of(response, method=request.method, mask=mask)
        following = None
        if request.method == "GET" and is_json(value):
            following = next_arguments(plan, arguments, response, cast("JsonValue", value))
        if following is not None and mask.value(following) != following:
            following = None  # a service that repeats a secret in a link; the model is shown the arguments
        return Page(value=value, following=following)

    async def _answer(
        self, name: str, request: Request, schemes: tuple[Scheme, ...], *, effect: Effect, server: str
    ) -> Response:
        response = await self._sent(name, request, await self._secrets(schemes, server), effect)
        renewed = [scheme for scheme in schemes if self._credentials.client_of(scheme) is not None]
        if response.status != 401 or not renewed:
            return response
        # The token may have been withdrawn; a request that is refused so has done nothing.
        for scheme in renewed:
            self._tokens_from(server).forget(scheme)
        return await self._sent(name, request, await self._secrets(schemes, server), effect)

    async def _sent(self, name: str, request: Request, secrets: Secrets, effect: Effect) -> Response:
        try:
            return await self._client.send(request, secrets)
        except (httpx2.RequestError, httpx2.InvalidURL, TimeoutError, TooLargeError) as error:
            # Without the error's own text and traceback, where an address with a secret may stand.
            failure = _transport_failure(name, error, effect=effect, timeout_s=self._client.timeout_s)
        raise failure

    async def _secrets(self, schemes: tuple[Scheme, ...], server: str) -> Secrets:
        secrets = Secrets(headers=[], query=[], cookies=[])
        for scheme in schemes:
            client = self._credentials.client_of(scheme)
            token = None if client is None else await self._tokens_from(server).token_for(scheme, client)
            self._credentials.apply(scheme, secrets, token=token)
        return secrets

    def _tokens_from(self, server: str) -> Tokens:
        if self._tokens is None:
            self._tokens = Tokens(self._client, base=f"{server}/")
        return self._tokens

    def _mask(self) -> Mask:
        tokens: Mapping[str, str] = {} if self._tokens is None else self._tokens.texts
        return Mask(
            {
                **self._credentials.masked,
                **{name: text for name, text in tokens.items() if len(text) >= SHORTEST_SECRET},
            }
        )


def _transport_failure(
    name: str,
    error: httpx2.RequestError | httpx2.InvalidURL | TimeoutError | TooLargeError,
    *,
    effect: Effect,
    timeout_s: float,
) -> ToolError | OutcomeUnknownError:
    if isinstance(error, httpx2.InvalidURL):
        return ToolError(f"`{name}` cannot be called: its address cannot be used. Check the arguments.")
    if isinstance(error, _NEVER_SENT):
        return TransientToolError(
            f"`{name}` failed: the service could not be reached, so nothing was done.", nothing_done=True
        )
    if isinstance(error, TooLargeError):
        return ToolError(f"`{name}` brought more than can be read. Ask for less: a page, a filter, fewer fields.")
    is_late = isinstance(error, TimeoutError | httpx2.TimeoutException)
    what = f"gave no answer within {timeout_s:g} s" if is_late else "broke off the connection before it had answered"
    if effect == "unsafe":
        return OutcomeUnknownError(
            f"`{name}`: outcome unknown. The service {what}, and may have done it or not. Do not take it for done or "
            "undone: check if you can before you ask for it again."
        )
    return TransientToolError(f"`{name}` failed: the service {what}.")
