"""From a value or an error to the one result that a model reads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from wieldy.core.calls import ToolCall, ToolResult, Trust
from wieldy.run.outcomes import Outcome, Step
from wieldy.run.results.caps import show, with_note

if TYPE_CHECKING:
    from wieldy.core.errors import ModelVisibleError
    from wieldy.core.limits import Usage

Summarise: TypeAlias = "Callable[[ToolCall, str], str | Awaitable[str]]"
"""Says in a few words what a long text holds, for the model."""

CONTENT_LIMIT_BYTES: Final = 16 * 1024
"""How much of one result a model is shown, in UTF-8 bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRules:
    """How results are shown.

    Attributes:
        limit_bytes: How much of one result the model is shown, in UTF-8 bytes.
        summarise: Asked for what is longer, instead of showing its beginning and end.
    """

    limit_bytes: int = CONTENT_LIMIT_BYTES
    summarise: Summarise | None = None


class Shaper:
    """Makes the results of one run."""

    def __init__(
        self,
        *,
        rules: ResultRules = ResultRules(),  # noqa: B008 (a frozen record)
        secrets: Mapping[str, str] | None = None,
    ) -> None:
        self._rules = rules
        self._secrets = secrets or {}

    async def succeeded(self, step: Step, value: object, *, duration_s: float, usage: Usage | None = None) -> Outcome:
        """The outcome of a call whose code returned this value."""
        content, structured = step.tool.present(value)
        shown = show(self.mask(content))
        content = shown.content
        if step.arguments.repairs:
            content = with_note(content, f"Your arguments were changed to fit: {'; '.join(step.arguments.repairs)}.")
        result = ToolResult(
            tool_call_id=step.call.id, content=content, structured_content=structured, source=step.tool.name
        )
        return Outcome(result=result, duration_s=duration_s, whole=shown.whole, usage=usage)

    def failed(
        self,
        call_id: str,
        error: ModelVisibleError,
        *,
        duration_s: float = 0.0,
        is_unknown: bool = False,
        usage: Usage | None = None,
        source: str | None = None,
        trust: Trust = "trusted",
    ) -> Outcome:
        """The outcome of a call that failed: the model reads the error's text."""
        shown = show(self.mask(str(error) or "The call failed, and the tool does not say why."))
        result = ToolResult(
            tool_call_id=call_id,
            content=shown.content,
            is_error=True,
            layer=error.layer,
            source=source,
            trust=trust,
        )
        return Outcome(
            result=result,
            duration_s=duration_s,
            detail=None if error.detail is None else self.mask(error.detail),
            whole=shown.whole,
            usage=usage,
            is_unknown=is_unknown,
        )

    def mask(self, text: str) -> str:
        """The text without any secret."""
        for name, value in self._secrets.items():
            text = text.replace(value, f"[secret {name}]")
        return text
