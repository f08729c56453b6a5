"""The verdicts on the runs of a conversation, from their journals alone: the calls that were made are made once more.

Replayed is what was carried out, with the arguments with which it was. A call that was refused or could not be read
brings nothing to either side. Deliberately not here: the rules (`official`, `strict`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from wieldy.core.ports import Entry
from wieldy.evals.bfcl.conversations import official, strict
from wieldy.evals.bfcl.conversations.data import BfclConversation, Mistake
from wieldy.evals.bfcl.conversations.defects import is_valid
from wieldy.evals.bfcl.conversations.written import write_call
from wieldy.evals.verdicts.abstentions import ERROR_TEXT, flaw_of
from wieldy.evals.verdicts.attribution import decisive, faults
from wieldy.evals.verdicts.calls_seen import RunSeen, parts_of, seen
from wieldy.evals.verdicts.verdict import PASS, Layer, Verdict, VerdictKind, invalid_task
from wieldy.run.journal import kinds

FORCE_TERMINATED: Final = "multi_turn:force_terminated"
INFERENCE_ERROR: Final = "multi_turn:inference_error"
_REFUSED: Final = "_refused()"
"""A call of nothing that there is: such a name the benchmark looks up in vain."""
_NO_CALL: Final = "no-call"


def official_verdict(conversation: BfclConversation, runs: Sequence[Sequence[Entry]]) -> Verdict:
    """As the leaderboard would have it: every trial is right or wrong, whatever came in between."""
    found = [seen(entries) for entries in runs]
    mistake = _ended(conversation, found[-1], len(found) - 1)
    if mistake is None:
        mistake = official.check(conversation, [list(replies_of(run)) for run in found])
    return PASS if mistake is None else _verdict("fail", mistake, found)


def _ended(conversation: BfclConversation, last: RunSeen, turn: int) -> Mistake | None:
    """Why there is nothing to compare: a run that failed, or too many replies before the last turn."""
    if last.end is None or last.end.kind != kinds.RUN_FINISHED:
        return Mistake(turn, INFERENCE_ERROR)
    return Mistake(turn, FORCE_TERMINATED) if turn + 1 < len(conversation.turns) else None


def replies_of(run: RunSeen) -> Iterator[list[str]]:
    """The calls of each reply that has any, written as Python."""
    for reply in run.replies:
        calls = [run.calls[part["id"]] for part in parts_of(reply) if part["type"] in ("call", "invalid_call")]
        if calls:
            yield [write_call(call.name or "", call.ran) if call.ran is not None else _REFUSED for call in calls]


def strict_verdict(conversation: BfclConversation, runs: Sequence[Sequence[Entry]]) -> Verdict:
    """What was meant, and whose failure it is if it was not reached."""
    if not is_valid(conversation):
        return invalid_task("no-right-outcome: the functions that are there do not allow the right calls")
    found = [seen(entries) for entries in runs]
    mistake = strict.check(conversation, [calls_of(run) for run in found])
    for turn, (wanted, run) in enumerate(zip(conversation.turns, found, strict=False)):
        flaw = _flaw(run) if not (wanted.calls or run.calls) else None
        if flaw is not None and (mistake is None or turn < mistake.turn):
            mistake = Mistake(turn, flaw)
    return PASS if mistake is None else _put_down(mistake, found, runs)


def _put_down(mistake: Mistake, found: list[RunSeen], runs: Sequence[Sequence[Entry]]) -> Verdict:
    for turn, entries in enumerate(runs[: mistake.turn + 1]):
        fault = decisive(faults(entries))
        is_last_word = turn == len(runs) - 1 < mistake.turn  # what ended the conversation before its time
        if fault is not None and (is_last_word or fault.layer not in ("model", "tool")):
            kind: VerdictKind = "unscored" if fault.layer not in ("model", "tool") else "fail"
            return Verdict(kind=kind, layer=fault.layer, reason=fault.reason, evidence=fault.evidence, run=turn)
    is_without_calls = mistake.reason.startswith(_NO_CALL)
    flaw = _flaw(found[mistake.turn]) if is_without_calls else mistake.reason
    if flaw is not None and flaw.startswith(ERROR_TEXT):
        return _verdict("unscored", Mistake(mistake.turn, flaw), found, layer="provider")
    if is_without_calls and flaw is None:
        return _verdict("abstain", mistake, found)
    return _verdict("fail", Mistake(mistake.turn, flaw or mistake.reason), found)


def calls_of(run: RunSeen) -> list[strict.Made]:
    """The calls of a turn, in order."""
    return [
        strict.Made(call.name or "", call.arguments if call.ran is None else call.ran, call.started)
        for call in run.calls.values()
    ]


def _flaw(run: RunSeen) -> str | None:
    """Why the last reply of a turn is no answer in words."""
    parts = parts_of(run.replies[-1]) if run.replies else []
    return flaw_of("".join(part["text"] for part in parts if part["type"] == "text"), run.schemas)


def _verdict(kind: VerdictKind, mistake: Mistake, found: list[RunSeen], *, layer: Layer = "model") -> Verdict:
    at = min(mistake.turn, len(found) - 1)
    evidence = tuple(reply.sequence for reply in found[at].replies[-1:])
    return Verdict(kind=kind, layer=layer, reason=mistake.reason, evidence=evidence, run=at)
