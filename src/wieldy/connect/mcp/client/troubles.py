"""What a model is told where a server gave no answer, in the class that tells the runtime what may be repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from wieldy.connect.mcp.client.port import (
    ConnectionFailedError,
    NotProcessedError,
    RefusedError,
    UnreadableAnswerError,
)
from wieldy.core.errors import ModelVisibleError, OutcomeUnknownError, ToolError, TransientToolError, UsageError

if TYPE_CHECKING:
    from wieldy.core.calls import Effect
    from wieldy.run.results.masks import Mask

_REPEATABLE: Final = ("read", "idempotent")
_URL_REQUIRED: Final = -32042


def trouble_of(
    error: ConnectionFailedError | UsageError, *, name: str, effect: Effect, title: str, mask: Mask
) -> ModelVisibleError:
    """The error for the model.

    Args:
        error: What became of the request.
        name: The tool, as the model knows it.
        effect: The tool's.
        title: What the server is called.
        mask: Takes secrets out of what the server said.
    """
    said = mask.text(str(error)).rstrip(". ")
    match error:
        case UsageError():
            return ToolError(f"`{name}` was not run: {title} cannot be started as it is configured: {said}.")
        case RefusedError(code=code, data=data):
            urls = [mask.text(url) for url in _urls(code, data)]
            where = f" A person has to go to {', '.join(urls)} first." if urls else ""
            return ToolError(f"{title} refused `{name}`: {said or f'error {code}'}.{where}")
        case NotProcessedError():
            return TransientToolError(f"`{name}` was not run: {title} is not there: {said}.", nothing_done=True)
        case UnreadableAnswerError():
            what = f"answered `{name}` with something that the protocol does not know ({said})"
        case _:
            what = f"ended while `{name}` was under way ({said})"
    if not is_repeatable(effect):
        return OutcomeUnknownError(
            f"`{name}`: outcome unknown. {title} {what}. It may have taken effect or not: do not take it for done or "
            "undone, and check before you ask for it again."
        )
    if isinstance(error, UnreadableAnswerError):
        return ToolError(f"{title} {what}. Try other arguments, or go on without it.")
    return TransientToolError(f"{title} {what}.")


def is_repeatable(effect: Effect) -> bool:
    """Whether a call may be made again though it may have been carried out."""
    return effect in _REPEATABLE


def _urls(code: int, data: Any) -> list[str]:
    if code != _URL_REQUIRED or not isinstance(data, dict):
        return []
    asked: Any = cast("dict[str, Any]", data).get("elicitations")
    entries = cast("list[Any]", asked) if isinstance(asked, list) else []
    found = [cast("dict[str, Any]", entry).get("url") for entry in entries if isinstance(entry, dict)]
    return [url for url in found if isinstance(url, str)]
