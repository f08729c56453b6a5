"""What goes wrong with a request, as the protocol tells it: a status and an object with message, type, param and code.

Pure. A fault of the client's is 400 and its like; what is wrong behind this server is 429, 502, 503 or 504, and says
whether it pays to try again. Deliberately not here: sending it (`completion`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from wieldy.connect.models.failures import is_timeout
from wieldy.connect.serving.chat.answering import NotRightError
from wieldy.connect.serving.chat.fields import FieldError
from wieldy.core.errors import (
    AuthenticationError,
    ContentFilterError,
    GrammarError,
    ModelError,
    ModelNotAvailableError,
    RateLimitError,
    RequestRefusedError,
    UsageError,
    WieldyError,
)
from wieldy.core.json import JsonObject

_OF_CLIENT: Final = "invalid_request_error"
_OF_SERVER: Final = "server_error"
_OF_MODEL: Final = "model_error"
_CLIENTS: Final = (400, 413, 422)
"""Statuses of a server behind this one that say something of what was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An answer that is an error.

    Attributes:
        retry_after_s: How long to wait before the next try, in seconds; None if nobody says.
        may_retry: Whether the same request may succeed a little later.
        more: Further fields of the error.
    """

    status: int
    message: str
    type: str
    param: str | None = None
    code: str | None = None
    retry_after_s: float | None = None
    may_retry: bool = False
    more: JsonObject | None = None

    def to_json(self) -> JsonObject:
        """The body."""
        error: JsonObject = {"message": self.message, "type": self.type, "param": self.param, "code": self.code}
        return {"error": error | (self.more or {})}

    def headers(self) -> dict[str, str]:
        """Those that say whether and when to try again, which clients of the protocol go by."""
        wait = self.retry_after_s
        waits = {} if wait is None or not math.isfinite(wait) else {"retry-after": str(math.ceil(wait))}
        return {**waits, "x-should-retry": "true" if self.may_retry else "false"}


def bad_request(message: str, *, status: int = 400, param: str | None = None, code: str | None = None) -> Failure:
    """The failure of a request that cannot be answered as it is."""
    return Failure(status=status, message=message, type=_OF_CLIENT, param=param, code=code)


STOPPING: Final = Failure(
    status=503, message="The server is stopping.", type=_OF_SERVER, code="server_stopping", may_retry=True
)


def failure_of(error: Exception) -> Failure:
    """The failure for an error; one that nobody has foreseen says nothing of itself."""
    match error:
        case FieldError():
            return bad_request(str(error), status=error.status, param=error.param, code=error.code)
        case NotRightError():
            return _not_right(error)
        case ModelError():
            return _of_model(error)
        case ModelNotAvailableError():
            return Failure(status=503, message=str(error), type=_OF_SERVER, code="model_not_available")
        case GrammarError():  # a budget that is too small is one
            return bad_request(str(error), code="constraint_impossible")
        case UsageError():
            return Failure(status=500, message=str(error), type=_OF_SERVER, code="misconfigured")
        case WieldyError():
            return Failure(status=500, message=str(error), type=_OF_SERVER)
        case _:
            message = "The request could not be answered, for a fault on this side."
            return Failure(status=500, message=message, type=_OF_SERVER)


def _not_right(error: NotRightError) -> Failure:
    asked = error.progress.retries + 1
    return Failure(
        status=502,
        message=f"The model was asked {asked} times, and what it wrote is not right. {error.wrong.message}"
        if asked > 1
        else f"What the model wrote is not right. {error.wrong.message}",
        type=_OF_MODEL,
        code=error.wrong.code,
        more={"written": error.wrong.written},
    )


def _of_model(error: ModelError) -> Failure:
    message, wait = str(error), error.retry_after_s
    match error:
        case RateLimitError():
            return Failure(
                status=429,
                message=message,
                type="rate_limit_error",
                code="rate_limit_exceeded",
                retry_after_s=wait,
                may_retry=error.is_transient,
            )
        case ContentFilterError():
            return bad_request(message, code="content_filter")
        case RequestRefusedError() if error.status is None or error.status in _CLIENTS:
            return bad_request(message, code="refused_by_model")
        case AuthenticationError():
            return Failure(status=502, message=message, type=_OF_SERVER, code="upstream_authentication")
        case _:
            return Failure(
                status=504 if is_timeout(error) else 502,
                message=message,
                type=_OF_SERVER,
                code="upstream_error",
                retry_after_s=wait,
                may_retry=error.is_transient,
            )
