"""What a model was shown and wrote, read from the journal: one branch for each history that was gone on with.

Law: a branch holds the messages as the run's entries fold, in their order, and nothing else; of each it is known
whether the model wrote it in these runs, and what speaks against learning from it. Runs of one conversation are one
branch where each begins with exactly what the one before left, under the same tools. Where a history was shortened or
changed, another branch begins, in which what was written before is only given. Deliberately not here: which branches
are exported (`selection`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from wieldy.core.calls import InvalidToolCall, ToolDefinition
from wieldy.core.errors import JournalError
from wieldy.core.json import JsonObject, canonical_json
from wieldy.core.messages import Message
from wieldy.run.journal import kinds
from wieldy.run.nested import nested_runs
from wieldy.run.records import message_from_json, message_to_json
from wieldy.run.state import CallState, Fold, RunState

if TYPE_CHECKING:
    from wieldy.core.ports import Entry, Journal

DEEPEST: Final = 8
"""How deep runs within runs are followed."""

GIVEN: Final = "given"
"""The model of the branch did not write it."""
MESSAGE_REASONS: Final = (
    "truncated",
    "closed_by_budget",
    "invalid_call",
    "repaired_call",
    "denied_call",
    "refused_answer",
    "redacted",
)
"""What speaks against learning from a reply, the worst first; for all but the last it can be included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message, and what speaks against learning from it.

    Attributes:
        reasons: None of a reply that may be learned from; `GIVEN` alone of what the model did not write.
    """

    message: Message
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One history.

    Attributes:
        runs: The runs that it was written in, in order.
        parent: The run within which it went on; None if no other had started it.
        model: As the journal names it.
        given: How many messages the last of its runs began with.
        tools: Definitions as they were offered, in the journal's own words.
        has_all_tools: Whether those are all that the model was offered.
    """

    runs: tuple[str, ...]
    parent: str | None
    model: str
    said: tuple[Said, ...]
    given: int
    tools: tuple[JsonObject, ...]
    has_all_tools: bool
    state: RunState

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools as formats take them."""
        return tuple(
            ToolDefinition(
                name=str(tool["name"]),
                description=str(tool.get("description", "")),
                input_schema=cast("JsonObject", tool.get("input_schema") or {"type": "object"}),
            )
            for tool in self.tools
        )


def branches_of(journal: Journal, run_ids: Iterable[str]) -> Iterator[Branch]:
    """The branches of runs that went on from one another, and of the runs that their calls started.

    Raises:
        JournalError: An entry cannot be read, or is missing.
    """
    current: Branch | None = None
    within = list[Branch]()
    for run_id in run_ids:
        entries = journal.read(run_id)
        if not entries:
            raise JournalError(f"Run {run_id!r} is not in the journal, though its result names it.")
        branch = branch_of(entries)
        within += _nested(journal, branch.state, depth=1)
        going_on = None if current is None else _joined(current, branch)
        if current is not None and going_on is None:
            yield current
        current = going_on or branch
    if current is not None:
        yield current
    yield from within


def _nested(journal: Journal, state: RunState, *, depth: int) -> Iterator[Branch]:
    if depth > DEEPEST:
        return
    for run_id in nested_runs(journal, state).values():
        branch = branch_of(journal.read(run_id))
        yield replace(branch, parent=state.run_id)
        yield from _nested(journal, branch.state, depth=depth + 1)


def _joined(before: Branch, branch: Branch) -> Branch | None:
    """Both as one, if the second goes on from the whole of the first."""
    length = len(before.said)
    begins_so = [said.message for said in branch.said[:length]] == [said.message for said in before.said]
    if branch.given < length or not begins_so or canonical_json(branch.tools) != canonical_json(before.tools):
        return None
    return replace(
        branch,
        runs=(*before.runs, *branch.runs),
        said=(*before.said, *branch.said[length:]),
        has_all_tools=before.has_all_tools and branch.has_all_tools,
    )


def branch_of(entries: Sequence[Entry]) -> Branch:
    """The branch of one run.

    Raises:
        JournalError: An entry cannot be read, or is missing.
    """
    known = Fold()
    own = dict[int, set[str]]()
    for entry in entries:
        if entry.kind == kinds.CORRECTION and own:
            own[max(own)].add("refused_answer")
        known.apply(entry)
        if entry.kind == kinds.REPLY:
            own[len(known.messages) - 1] = _of_reply(cast("dict[str, Any]", entry.data))
    state = known.state()
    start = cast("dict[str, Any]", entries[0].data)
    calls = {call.call.id: call for call in state.calls}
    said = tuple(
        Said(
            message=message,
            reasons=_reasons(own[at] | _of_calls(message, calls)) if at in own else (GIVEN,),
        )
        for at, message in enumerate(state.messages)
    )
    tools = tuple(cast("Sequence[JsonObject]", start.get("tools") or ()))
    return Branch(
        runs=(state.run_id,),
        parent=None if state.parent is None else state.parent.run_id,
        model=state.model,
        said=said,
        given=len(start["messages"]),
        tools=tools,
        has_all_tools=_ran_only(tools, state),
        state=state,
    )


def _reasons(found: set[str]) -> tuple[str, ...]:
    return tuple(reason for reason in MESSAGE_REASONS if reason in found)


def _of_reply(data: dict[str, Any]) -> set[str]:
    found = set[str]()
    if data.get("finish") == "length":
        found.add("truncated")
    calls = [part for part in data["message"]["parts"] if part.get("type") == "call"]
    if data.get("finish") == "closed_by_budget" or data.get("forced") or any(part.get("forced") for part in calls):
        found.add("closed_by_budget")
    return found


def _of_calls(message: Message, calls: dict[str, CallState]) -> set[str]:
    found = set[str]()
    for call in message.calls:
        known = calls.get(call.id)
        result = None if known is None else known.result
        if isinstance(call, InvalidToolCall) or (result is not None and result.is_error and result.layer == "model"):
            found.add("invalid_call")
        if known is not None and known.repairs:
            found.add("repaired_call")
        if result is not None and result.is_error and result.layer == "policy":
            found.add("denied_call")
    return found


def _ran_only(tools: Sequence[JsonObject], state: RunState) -> bool:
    """Whether everything that ran was among what was offered at the beginning: tools may be found later on."""
    offered = {str(tool.get("name")) for tool in tools}
    return all(call.call.name in offered for call in state.calls if call.attempts)


def redacted(branch: Branch, clean: Any) -> Branch:
    """The branch without what must not be shown; replies of which something was taken out are not learned from.

    Args:
        branch: As it was recorded.
        clean: Takes it out of a JSON value.
    """
    return replace(
        branch,
        said=tuple(_redacted(each, clean) for each in branch.said),
        tools=tuple({**tool, **{name: clean(tool[name]) for name in _SHOWN if name in tool}} for tool in branch.tools),
    )


_SHOWN: Final = ("name", "description", "input_schema")
_OWN_WORDS: Final = ("type", "id", "tool_call_id", "provider_id", "trust", "layer")


def _redacted(said: Said, clean: Any) -> Said:
    data = cast("dict[str, Any]", message_to_json(said.message))
    parts = [
        {name: value if name in _OWN_WORDS else clean(value) for name, value in part.items()} for part in data["parts"]
    ]
    if parts == data["parts"]:
        return said
    message = message_from_json({**data, "parts": cast("Any", parts)})
    reasons = said.reasons if said.reasons == (GIVEN,) else (*said.reasons, "redacted")
    return replace(said, message=message, reasons=reasons)
