"""The verdicts on a run of one task: the official one, and the strict one with its layers.

Only the first reply is judged, as the benchmark does. Where no call is wanted, an abstention is credited only if it is
one: an answer in words. Nothing at all, the text of a broken call, and the text of an error are none.
Deliberately not here: comparing calls (`official`, `strict`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wieldy.core.ports import Entry
from wieldy.evals.bfcl import official, strict
from wieldy.evals.bfcl.data import BfclTask
from wieldy.evals.bfcl.defects import is_valid
from wieldy.evals.bfcl.offering import offer_of
from wieldy.evals.verdicts.abstentions import ERROR_TEXT, flaw_of
from wieldy.evals.verdicts.attribution import decisive, faults
from wieldy.evals.verdicts.calls_seen import parts_of, seen
from wieldy.evals.verdicts.verdict import PASS, Verdict, abstained, failed, invalid_task, unscored


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstReply:
    """What a model first said.

    Attributes:
        calls: Those that could be read: the benchmark's names, and arguments.
        broken: How many calls could not be read.
        entry: The number of the entry that holds it; None if there was no reply.
    """

    text: str = ""
    calls: tuple[strict.Call, ...] = ()
    broken: int = 0
    entry: int | None = None

    @property
    def evidence(self) -> tuple[int, ...]:
        """The entry, as evidence."""
        return () if self.entry is None else (self.entry,)


def first_reply(task: BfclTask, entries: Sequence[Entry]) -> FirstReply:
    """The first reply of a run, as its journal has it."""
    replies = seen(entries).replies
    if not replies:
        return FirstReply()
    names = offer_of(task).names
    parts = parts_of(replies[0])
    calls = [(names.get(part["name"], part["name"]), part["arguments"]) for part in parts if part["type"] == "call"]
    return FirstReply(
        text="".join(part["text"] for part in parts if part["type"] == "text"),
        calls=tuple(calls),
        broken=sum(part["type"] == "invalid_call" for part in parts),
        entry=replies[0].sequence,
    )


def official_verdict(task: BfclTask, entries: Sequence[Entry]) -> Verdict:
    """As the leaderboard would have it: every reply is right or wrong, whatever came in between."""
    reply = first_reply(task, entries)
    # A call that cannot be read is text to that checker.
    error = official.check_calls(task, () if reply.broken else reply.calls)
    return PASS if error is None else failed(error, evidence=reply.evidence)


def strict_verdict(task: BfclTask, entries: Sequence[Entry], *, reply: FirstReply | None = None) -> Verdict:
    """What was meant, and whose failure it is if it was not reached.

    Args:
        task: What was wanted.
        entries: Of the run.
        reply: The first reply, where its calls are not those that the journal has; those if left out.
    """
    if not is_valid(task):
        return invalid_task("no-right-answer: no answer fits the functions that the task describes")
    reply = first_reply(task, entries) if reply is None else reply
    found = faults(entries)
    ours = (fault for fault in found if fault.layer == "harness" and reply.entry in fault.evidence)
    # Without a reply there is always a fault that stopped the run before.
    fault = decisive(found) if reply.entry is None else next(ours, None)
    if fault is not None:
        return unscored(fault.layer, fault.reason, evidence=fault.evidence)
    match task.category.wanted:
        case "calls":
            return _calls_verdict(task, reply)
        case "no call":
            return _abstention_verdict(task, reply)
        case "any call":
            return _relevance_verdict(task, reply)


def _calls_verdict(task: BfclTask, reply: FirstReply) -> Verdict:
    if reply.broken:
        return failed("malformed-call: a call cannot be read", evidence=reply.evidence)
    if not reply.calls:
        return _without_calls(task, reply)
    reason = strict.check(task, reply.calls)
    return PASS if reason is None else failed(reason, evidence=reply.evidence)


def _without_calls(task: BfclTask, reply: FirstReply) -> Verdict:
    flaw = flaw_of(reply.text, [function["name"] for function in task.functions])
    if flaw is None:
        return abstained("no-call: an answer in words instead of a call", evidence=reply.evidence)
    return _flawed(flaw, reply)


def _abstention_verdict(task: BfclTask, reply: FirstReply) -> Verdict:
    if reply.calls or reply.broken:
        code = "malformed-call: a call cannot be read" if reply.broken else "needless-call: no call was wanted"
        return failed(code, evidence=reply.evidence)
    flaw = flaw_of(reply.text, [function["name"] for function in task.functions])
    return PASS if flaw is None else _flawed(flaw, reply)


def _flawed(flaw: str, reply: FirstReply) -> Verdict:
    if flaw.startswith(ERROR_TEXT):
        return unscored("provider", flaw, evidence=reply.evidence)
    return failed(flaw, evidence=reply.evidence)


def _relevance_verdict(task: BfclTask, reply: FirstReply) -> Verdict:
    """At least one call, and all of functions that there are, with arguments that they take."""
    if reply.broken:
        return failed("malformed-call: a call cannot be read", evidence=reply.evidence)
    if not reply.calls:
        return _without_calls(task, reply)
    for name, arguments in reply.calls:
        reason = _unfit(task, name, arguments)
        if reason is not None:
            return failed(reason, evidence=reply.evidence)
    return PASS


def _unfit(task: BfclTask, name: str, arguments: Mapping[str, Any]) -> str | None:
    parameters = strict.parameters_of(task, name)
    if not parameters:
        return f"wrong-tool: there is no function {name!r}"
    undeclared = arguments.keys() - (parameters.get("properties") or {}).keys()
    if undeclared:
        return f"undeclared-parameter: {min(undeclared)!r}"
    missing = set(parameters.get("required") or ()) - arguments.keys()
    return f"missing-parameter: {min(missing)!r} is required" if missing else None
