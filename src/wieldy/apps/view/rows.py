"""What a list says of one run: the state that its entries add up to, in short.

Deliberately not here: which runs a list has (`run_list`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from wieldy.apps.cli.run_status import Status, status_of
from wieldy.core.limits import Usage

if TYPE_CHECKING:
    from wieldy.core.approvals import ApprovalRequest
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Journal
    from wieldy.evals.reports.page import Redaction
    from wieldy.run.state import RunState

RowStatus: TypeAlias = Status | Literal["unreadable"]

PROMPT_CHARACTERS: Final = 300
"""Of a prompt or an error in a list."""
SEARCHED_CHARACTERS: Final = 1000
"""Of the prompt, of the answer and of the error: what is searched."""

_NOTHING: Final = Usage()
_FAILED: Final[tuple[RowStatus, ...]] = ("failed", "died", "interrupted", "unreadable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A run in short.

    Attributes:
        prompt: Its beginning.
        failed_calls: How many calls were answered by an error.
        tools: The names that its calls have, each once.
        parent: The run whose call started it.
        waiting: What people must decide on.
        words: What is searched, in small letters.
    """

    run_id: str
    status: RowStatus
    model: str = ""
    prompt: str = ""
    started: float | None = None
    ended: float | None = None
    turns: int = 0
    calls: int = 0
    failed_calls: int = 0
    usage: Usage = _NOTHING
    stop_reason: str | None = None
    error: str | None = None
    tools: tuple[str, ...] = ()
    parent: str | None = None
    resumed: int = 0
    waiting: tuple[ApprovalRequest, ...] = ()
    words: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether something went wrong: with the run, or with one of its calls."""
        return self.status in _FAILED or self.failed_calls > 0

    def to_json(self) -> JsonObject:
        """The row as the page is given it."""
        return {
            "run_id": self.run_id,
            "status": self.status,
            "model": self.model,
            "prompt": self.prompt,
            "started": self.started,
            "ended": self.ended,
            "turns": self.turns,
            "calls": self.calls,
            "failed_calls": self.failed_calls,
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "cost_usd": self.usage.cost_usd,
            "stop_reason": self.stop_reason,
            "error": self.error,
            "tools": [*self.tools],
            "parent": self.parent,
            "resumed": self.resumed,
            "waiting": [request.call_id for request in self.waiting],
        }


def row_of(state: RunState, journal: Journal, *, redaction: Redaction) -> Row:
    """The row of a run; every text that it holds is as it may be shown.

    Raises:
        JournalError: The journal cannot be read.
    """
    clean = redaction.text
    prompt, error = clean(state.prompt), None if state.error is None else clean(state.error)
    tools = tuple(dict.fromkeys(clean(call.call.name or "") for call in state.calls))
    searched = (text[:SEARCHED_CHARACTERS] for text in (prompt, clean(state.text), error or ""))
    return Row(
        run_id=state.run_id,
        status=status_of(state, journal),
        model=clean(state.model),
        prompt=prompt[:PROMPT_CHARACTERS],
        started=state.started,
        ended=state.ended,
        turns=state.turns,
        calls=len(state.calls),
        failed_calls=sum(call.result is not None and call.result.is_error for call in state.calls),
        usage=state.usage,
        stop_reason=state.stop_reason,
        error=None if error is None else error[:PROMPT_CHARACTERS],
        tools=tools,
        parent=None if state.parent is None else state.parent.run_id,
        resumed=state.resumed,
        waiting=state.waiting,
        words="\n".join((state.run_id, clean(state.model), *tools, *searched)).lower(),
    )


def unreadable_row(run_id: str, error: Exception, *, redaction: Redaction) -> Row:
    """The row of a run whose entries say nothing that can be understood: it must not hide, nor hide others."""
    words = redaction.text(str(error))
    return Row(
        run_id=run_id, status="unreadable", error=words[:PROMPT_CHARACTERS], words=f"{run_id}\n{words}"[:2000].lower()
    )
