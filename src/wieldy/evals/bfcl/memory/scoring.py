"""The verdicts on the run that answered a question, from its journal alone. Deliberately not here: the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wieldy.evals.bfcl.memory import official, strict
from wieldy.evals.bfcl.memory.filling import EARLIER
from wieldy.evals.bfcl.memory.words import words_of
from wieldy.evals.verdicts.abstentions import EMPTY, ERROR_TEXT, flaw_of
from wieldy.evals.verdicts.attribution import decisive, faults
from wieldy.evals.verdicts.calls_seen import parts_of, seen
from wieldy.evals.verdicts.verdict import PASS, Verdict, abstained, failed, invalid_task, unscored
from wieldy.run.journal import kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wieldy.core.ports import Entry
    from wieldy.evals.bfcl.memory.data import MemoryTask


def official_verdict(task: MemoryTask, entries: Sequence[Entry]) -> Verdict:
    """As the leaderboard would have it: every answer is right or wrong, whatever came in between.

    Differs: where a conversation that fills the memory breaks off, the leaderboard asks all the same.
    """
    run = seen(entries)
    if _is_earlier(entries) or run.end is None or run.end.kind != kinds.RUN_FINISHED:
        return failed(official.INFERENCE_ERROR)
    text, evidence = _last_word(entries)
    error = official.check(text, task.answers)
    return PASS if error is None else failed(error, evidence=evidence)


def strict_verdict(task: MemoryTask, entries: Sequence[Entry]) -> Verdict:
    """What was meant, and whose failure it is if it was not reached."""
    if not any(map(words_of, task.answers)):
        return invalid_task("no-right-answer: no answer is listed that has a word in it")
    fault = decisive(faults(entries))
    text, evidence = _last_word(entries)
    if fault is not None and not evidence and fault.layer in ("model", "tool") and not _is_earlier(entries):
        return failed(fault.reason, evidence=fault.evidence)
    if fault is not None and (_is_earlier(entries) or not evidence):
        return unscored(fault.layer, fault.reason, evidence=fault.evidence)
    flaw = _flaw(text, task)
    if flaw is not None:
        is_of_service = flaw.startswith(ERROR_TEXT)
        return unscored("provider", flaw, evidence=evidence) if is_of_service else failed(flaw, evidence=evidence)
    reason = strict.check(text, task.answers)
    if reason is None:
        return PASS
    return (abstained if reason.startswith(strict.NOT_KNOWN) else failed)(reason, evidence=evidence)


def _is_earlier(entries: Sequence[Entry]) -> bool:
    """Whether this run is one of a conversation before, which broke off."""
    metadata = entries[0].data.get("metadata") if entries else None
    return isinstance(metadata, dict) and EARLIER in metadata


def _last_word(entries: Sequence[Entry]) -> tuple[str, tuple[int, ...]]:
    """The text of the last reply that has no call, and the entry that holds it."""
    for reply in reversed(seen(entries).replies):
        parts = parts_of(reply)
        if all(part["type"] not in ("call", "invalid_call") for part in parts):
            return "".join(part["text"] for part in parts if part["type"] == "text"), (reply.sequence,)
    return "", ()


def _flaw(text: str, task: MemoryTask) -> str | None:
    """Why this text is no answer whatever it says; an answer may be a number alone, or be given in parts."""
    said = strict.parts_of_reply(text)
    flaw = flaw_of(said.answer, [function["name"] for function in task.scenario.functions])
    if flaw is None or (flaw.startswith(EMPTY) and words_of(said.answer)):
        return None
    return flaw if not said.is_in_parts or flaw.startswith((ERROR_TEXT, EMPTY)) else None
