"""Results of calls that the SDK refuses whole for single blocks of content, such as of a type that it does not know.

The server has answered, so what became of the call is known; such a block costs only itself. Deliberately not here:
how it is shown (`results`).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from mcp_types import methods
from pydantic import ValidationError

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject

_CALL: Final = "tools/call"
_SENT: Final[ContextVar[list[dict[str, Any]] | None]] = ContextVar("wieldy_mcp_sent", default=None)


@contextmanager
def kept() -> Generator[list[dict[str, Any]]]:
    """Results as the server sends them, of requests made within by this task."""
    sent: list[dict[str, Any]] = []
    token = _SENT.set(sent)
    try:
        yield sent
    finally:
        _SENT.reset(token)


def keep(result: dict[str, Any]) -> None:
    """The server has sent this."""
    if (sent := _SENT.get()) is not None:
        sent.append(result)


def as_sent(method: str, revision: str, sent: list[dict[str, Any]]) -> JsonObject | None:
    """The last of the results, if nothing is wrong with it but single blocks of its content."""
    if method != _CALL or not sent or not isinstance(content := sent[-1].get("content"), list):
        return None
    head: dict[str, Any] = {**sent[-1], "content": []}
    known: list[Any] = [block for block in content if _is_taken(revision, {**head, "content": [block]})]  # pyright: ignore[reportUnknownVariableType]
    return sent[-1] if _is_taken(revision, {**head, "content": known}) else None


def _is_taken(revision: str, result: Mapping[str, Any]) -> bool:
    try:
        methods.validate_server_result(_CALL, revision, result)
    except (ValidationError, KeyError):
        return False
    return True
