"""Tasks of one's own: a prompt, tools, the calls that are wanted, what the answer must say, and a check of the outcome.

Deliberately not here: reading them from a file (`datasets`), running many (`running`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from wieldy.core.errors import UsageError
from wieldy.core.messages import messages_from
from wieldy.evals.abstentions import ERROR_TEXT, flaw_of
from wieldy.evals.attribution import TOOL_ERROR, Fault, decisive, faults
from wieldy.evals.calls_seen import CallSeen, RunSeen, parts_of, seen
from wieldy.evals.equality import is_equal, layout_free, matched
from wieldy.evals.verdicts import PASS, Verdict, abstained, failed, unscored
from wieldy.run.journal import kinds

if TYPE_CHECKING:
    from wieldy.agent.agent import Prompt
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.core.ports import Entry
    from wieldy.tools import Tool, Toolset


class CallMade(NamedTuple):
    """A call that was carried out, and what came back."""

    name: str
    arguments: JsonObject
    content: str
    is_error: bool


class Outcome(NamedTuple):
    """What a check is shown.

    Attributes:
        text: The answer.
        calls: Those that were carried out, in the order in which the model made them.
    """

    text: str
    calls: tuple[CallMade, ...]


Check: TypeAlias = "Callable[[Outcome], Verdict | bool | str | None]"
"""True or None: as it should be; False or a sentence: not so; a `Verdict` for anything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCall:
    """A call that is wanted.

    Attributes:
        arguments: The right value of each argument.
        alternatives: For arguments with more than one right value, all of them.
    """

    name: str
    arguments: JsonObject = field(default_factory=dict["str", "JsonValue"])
    alternatives: Mapping[str, Sequence[JsonValue]] = field(default_factory=dict["str", "Sequence[JsonValue]"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task.

    Attributes:
        id: Unique within the data set.
        prompt: What the model is asked, or a conversation.
        tools: What it may call.
        calls: What has to be called; none for an empty tuple, anything for None.
        order: Whether calls must come in the order in which they are listed.
        extra_calls: Whether further calls are all right.
        answer: Texts that the answer must contain; case and layout do not count, and 40 is not in 140.
        check: A function of yours that looks at the outcome.
        tool_errors: Whether a tool that fails belongs to the task, so that the model has to cope with it.
        instructions: The system message.
        kind: What kind of task it is; results are sliced by it.
        cluster: Tasks of one cluster are alike and not counted as independent; a task's own id if left out.
    """

    id: str
    prompt: Prompt
    tools: Sequence[Tool | Toolset | Callable[..., object]] = ()
    calls: tuple[ExpectedCall, ...] | None = None
    order: Literal["any", "as listed"] = "any"
    extra_calls: bool = False
    answer: tuple[str, ...] = ()
    check: Check | None = None
    tool_errors: bool = False
    instructions: str | None = None
    kind: str = "task"
    cluster: str | None = None

    def __post_init__(self) -> None:
        messages_from(self.prompt)  # says what is wrong with it
        if self.calls is None and not self.answer and self.check is None:
            raise UsageError(
                f"The task {self.id!r} can only be passed: expected `calls`, `answer` or `check`, found none of them."
            )


def verdict_of(task: Task, entries: Sequence[Entry]) -> Verdict:
    """What became of a run of the task, and whose failure it was.

    A run that did not come to its end has reached nothing. Of one that did, what the task wants decides; only where it
    was not reached is it asked whose failure that was.
    """
    run = seen(entries)
    found = decisive(faults(entries))
    if run.end is None or run.end.kind != kinds.RUN_FINISHED:
        return _stopped(run, found)
    outcome = outcome_of(run)
    try:
        judged = _judge(task, run, outcome)
    except Exception as error:  # a check is somebody's code
        return unscored("task", f"check-failed: {type(error).__name__}: {error}")
    if isinstance(judged, Verdict):
        return judged
    if judged is None:
        return PASS
    return _put_down(task, run, outcome, judged, found)


def _stopped(run: RunSeen, fault: Fault | None) -> Verdict:
    if run.end is not None and run.end.kind == kinds.RUN_PAUSED:
        return unscored("policy", "waiting: a person must decide on a call", evidence=(run.end.sequence,))
    assert fault is not None  # what stops a run is one
    return unscored(fault.layer, fault.reason, evidence=fault.evidence)


def _judge(task: Task, run: RunSeen, outcome: Outcome) -> Verdict | str | None:
    """What is wrong with the outcome; None if nothing is."""
    if task.calls is not None:
        wrong = compare_calls(task, run, outcome.calls)
        if wrong is not None:
            return wrong
    if task.calls == () and (flaw := flaw_of(outcome.text, run.schemas)) is not None:
        return flaw
    said = layout_free(outcome.text)
    for text in task.answer:
        if not _says(said, layout_free(text)):
            return f"wrong-answer: {text!r} is not in the answer {outcome.text[:80]!r}"
    checked = None if task.check is None else task.check(outcome)
    match checked:
        case Verdict() | None:
            return checked
        case True:
            return None
        case False:
            return "check: the task's check is not content with the outcome"
        case words:
            return f"check: {words}"


def _says(said: str, wanted: str) -> bool:
    """Whether a text contains another; a number is not part of a longer one, whose zeros behind the point aside."""
    before = r"(?<!\d)(?<!\d[.,])" if wanted[:1].isdigit() else ""
    after = ""
    if wanted[-1:].isdigit():
        after = r"0*(?!\d)" if re.search(r"\.\d+$", wanted) else r"(?!\d|,\d|\.\d*[1-9])"
    return re.search(before + re.escape(wanted) + after, said) is not None


def _put_down(task: Task, run: RunSeen, outcome: Outcome, wrong: str, fault: Fault | None) -> Verdict:
    evidence = (run.replies[-1].sequence,) if run.replies else ()
    if fault is not None and not _is_models_matter(task, fault):
        return unscored(fault.layer, fault.reason, evidence=fault.evidence)
    flaw = None if run.calls else flaw_of(outcome.text, run.schemas)
    if flaw is not None:
        is_error = flaw.startswith(ERROR_TEXT)
        return unscored("provider", flaw, evidence=evidence) if is_error else failed(flaw, evidence=evidence)
    if task.calls and not run.calls:
        return abstained("no-call: an answer in words instead of a call", evidence=evidence)
    if fault is not None and fault.layer == "model":
        return failed(fault.reason, evidence=fault.evidence)
    return failed(wrong, evidence=evidence)


def _is_models_matter(task: Task, fault: Fault) -> bool:
    """Whether the model has to cope with it, or caused it."""
    if fault.layer == "tool":
        return task.tool_errors or fault.code == TOOL_ERROR
    return fault.layer == "model"


def outcome_of(run: RunSeen) -> Outcome:
    """The answer and the calls that were carried out."""
    parts = parts_of(run.replies[-1]) if run.replies else []
    text = "".join(part["text"] for part in parts if part["type"] == "text")
    return Outcome(text, tuple(_made(call) for call in run.calls.values() if call.started))


def _made(call: CallSeen) -> CallMade:
    result = cast("dict[str, Any]", call.result or {})
    return CallMade(
        call.name or "", call.arguments, str(result.get("content", "")), call.result is None or not call.succeeded
    )


# Calls


def compare_calls(task: Task, run: RunSeen, made: Sequence[CallMade]) -> str | None:
    """What is wrong with the calls; None if they are those that are wanted."""
    wanted = task.calls or ()
    if len(made) < len(wanted):
        return f"missing-call: {len(made)} calls instead of {len(wanted)}"
    if len(made) > len(wanted) and not task.extra_calls:
        return f"extra-call: {len(made)} calls instead of {len(wanted)}"
    fits = [[_is_wanted(call, expected, run) for call in made] for expected in wanted]
    is_complete = len(matched(fits)) == len(wanted) if task.order == "any" else _in_order(fits)
    if is_complete:
        return None
    lacking = next((row for row in range(len(wanted)) if not any(fits[row])), None)
    if lacking is None:
        return "wrong-order: the right calls, in another order"
    return _what_is_wrong(wanted[lacking], made)


def _in_order(fits: list[list[bool]]) -> bool:
    """Whether every row finds a column behind that of the row before."""
    place = 0
    for row in fits:
        place = next((at + 1 for at in range(place, len(row)) if row[at]), 0)
        if place == 0:
            return False
    return True


def _is_wanted(made: CallMade, expected: ExpectedCall, run: RunSeen) -> bool:
    if made.name != expected.name:
        return False
    defaults = _defaults(run.schemas.get(made.name) or {})
    given = {**defaults, **made.arguments}
    wanted = {**{name: [value] for name, value in expected.arguments.items()}, **expected.alternatives}
    names = given.keys() | wanted.keys()
    missing = object()
    return all(
        any(is_equal(given.get(name, missing), option) for option in wanted.get(name, [defaults.get(name)]))
        for name in names
    )


def _defaults(schema: JsonObject) -> dict[str, JsonValue]:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {
        name: detail["default"]
        for name, detail in properties.items()
        if isinstance(detail, dict) and "default" in detail
    }


def _what_is_wrong(expected: ExpectedCall, made: Sequence[CallMade]) -> str:
    of_same_tool = [call for call in made if call.name == expected.name]
    if not of_same_tool:
        return f"wrong-tool: {expected.name!r} was not called"
    return f"wrong-value: {expected.name!r} was called with {of_same_tool[0].arguments!r:.120}"
