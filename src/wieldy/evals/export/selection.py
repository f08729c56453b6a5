"""Which rows are exported: what is left out is counted by its reason, and what is learned from is said of each reply.

Law: every trial is either in a row or in the counts. Of a group that is learned from by comparison, all trials are
exported or none. A trial that failed through somebody else than the model has no reward, never one of 0.
Deliberately not here: how rows are written (`writing`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from wieldy.core.errors import JournalError, UsageError
from wieldy.evals.export.advantages import ADVANTAGES
from wieldy.evals.export.branches import GIVEN, MESSAGE_REASONS, Branch, Said, branches_of, redacted
from wieldy.evals.export.row import Row, split_of
from wieldy.evals.export.sources import Group, Member, Sources
from wieldy.evals.export.views import View
from wieldy.evals.reports.page import Redaction
from wieldy.evals.verdicts.attribution import decisive, faults
from wieldy.evals.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from wieldy.evals.export.tokens import TokenColumns

INCLUDABLE: Final[Mapping[str, str]] = {
    "unscored": "something else than the model kept the trial from saying anything about it",
    "other_layer": "it failed through somebody else than the model",
    "invalid_task": "no answer could have been right",
    "unjudged": "nobody has said whether the run is right",
    "unfinished": "the run did not come to its end",
    "truncated": "a limit on tokens cut a reply",
    "retold": "the model was shown the conversation in other words than the journal has, or may have been",
    "unknown_tools": "the model had tools that the journal does not describe",
    "tools_not_shown": "the trainer would not show the model its tools",
    "incomplete_group": "not all trials of the group can be learned from",
    "closed_by_budget": "the token budget decided a part",
    "invalid_call": "a call could not be read, or was not what the tool takes",
    "repaired_call": "a call ran with other arguments than were written",
    "denied_call": "the policy or a person denied a call",
    "refused_answer": "the answer was not what it must be, and was corrected",
}
"""What is left out unless it is asked for, and why; those of single replies leave out the reply only."""
OTHERS: Final[Mapping[str, str]] = {
    "filtered": "--where or --min-reward",
    "no_model": "code or a client took the model's part",
    "nothing_to_learn": "no reply of it is learned from",
    "mask": "the trainer would also learn from replies that are not to be learned from; --tokenizer says it exactly",
    "not_in_format": "the format or the vocabulary cannot carry it",
    "repeat": "the same as an earlier row",
    "other_split": "--part",
    "unreadable": "the journal does not have it, or is damaged",
}
"""What is always left out, and why."""
_NOT_SAMPLED: Final = ("closed_by_budget", "truncated", "redacted")
"""Of replies that are learned from by their reward: those that are not all the model's own. Its faults have to stay."""
WHERE: Final = ("verdict", "task_id", "suite", "category", "configuration", "model", "stop_reason", "failure_layer")
NONE: Final = "none"
"""How `where` names what is not known."""
_IN_TEXT: Final = ("react", "json")
_CAN_BE_LED: Final = "local"
"""Models that are led by questions unless something else is said."""
_NO_MODEL: Final = ("code:", "client")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is wanted of all there is.

    Attributes:
        where: By the names of `WHERE`, the values that are wanted.
        include: Reasons of `INCLUDABLE` that do not leave out.
        share: How much of all tasks is in the split `train`.
        part: The split that is wanted; None for both.
        advantage: The trainer by whose formula it is computed; None for none.
        license: Of all rows, if somebody says it.
    """

    view: View
    where: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    min_reward: float | None = None
    include: frozenset[str] = frozenset()
    dedupe: bool = False
    share: float = 1.0
    part: str | None = None
    advantage: str | None = None
    license: str | None = None
    redaction: Redaction = field(default_factory=Redaction)
    tokens: TokenColumns | None = None


def passes_only(include: frozenset[str]) -> dict[str, frozenset[str]]:
    """What is learned from by imitation, unless something else is said."""
    return {"verdict": frozenset({"pass", NONE} if "unjudged" in include else {"pass"})}


@dataclass(slots=True, kw_only=True)
class Counts:
    """What became of all there is.

    Attributes:
        seen: Trials and runs that were looked at.
        left_out: Rows and trials by the reason.
        untrained: Replies that are in rows and are not learned from, by the reason.
        flags: Rows by their flags.
    """

    seen: int = 0
    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])
    untrained: Counter[str] = field(default_factory=Counter[str])
    flags: Counter[str] = field(default_factory=Counter[str])


def selected(sources: Sources, wanted: Wanted, counts: Counts) -> Iterator[Row]:
    """The rows, group by group, and in the counts what is left out.

    Cost: the memory of one group, and 16 bytes for each row where repeats are left out.
    """
    known = set[bytes]()
    for group in sources.groups():
        rows = _rows(group, wanted, counts, sources.notes)
        counts.seen += len(group.members)
        for row in rows:
            key = bytes.fromhex(row.digest) if wanted.dedupe else b""
            if wanted.dedupe and key in known:
                counts.left_out["repeat"] += 1
                continue
            known.add(key)
            counts.rows += 1
            counts.untrained.update(why for why in row.untrained if why is not None and why != GIVEN)
            counts.flags.update(row.flags)
            yield row


def _rows(group: Group, wanted: Wanted, counts: Counts, notes: list[str]) -> list[Row]:
    made = [_of_member(group, member, wanted, notes) for member in group.members]
    for each in made:
        counts.left_out.update(each.beside)
    if wanted.view.purpose == "reinforcement":
        return _compared(group, made, wanted, counts)
    counts.left_out.update(each.reason for each in made if each.reason is not None)
    return _single([row for each in made for row in each.rows], wanted, counts)


def _compared(group: Group, made: Sequence[_Made], wanted: Wanted, counts: Counts) -> list[Row]:
    """The rows of all trials of the group, or none."""
    reasons = [each.reason for each in made]
    is_incomplete = len(made) < group.expected or any(reasons)
    if is_incomplete and "incomplete_group" not in wanted.include:
        counts.left_out.update(reason or "incomplete_group" for reason in reasons)
        return []
    counts.left_out.update(reason for reason in reasons if reason is not None)
    kept = [each.rows for each in made if each.reason is None]
    rewards = [rows[0].reward for rows in kept]
    known = [reward for reward in rewards if reward is not None]
    advantages: Sequence[float | None] = [None] * len(kept)
    if wanted.advantage is not None and known and len(known) == len(kept):
        advantages = ADVANTAGES[wanted.advantage](known)
    flags = {"zero_variance": len(set(known)) < 2, "incomplete_group": is_incomplete}
    ready = [
        replace(row, advantage=advantage, flags=tuple(name for name, is_so in flags.items() if is_so))
        for rows, advantage in zip(kept, advantages, strict=True)
        for row in rows
    ]
    return _whole_group(ready, wanted, counts)


def _single(rows: Sequence[Row], wanted: Wanted, counts: Counts) -> list[Row]:
    finished = [_finished(row, wanted) for row in rows]
    counts.left_out.update(reason for reason, _ in finished if reason is not None)
    return [row for reason, row in finished if reason is None]


def _whole_group(rows: Sequence[Row], wanted: Wanted, counts: Counts) -> list[Row]:
    finished = [_finished(row, wanted) for row in rows]
    reasons = [reason for reason, _ in finished]
    if any(reasons) and "incomplete_group" not in wanted.include:
        counts.left_out.update(reason or "incomplete_group" for reason in reasons)
        return []
    return _single(rows, wanted, counts)


def _finished(row: Row, wanted: Wanted) -> tuple[str | None, Row]:
    """Why the row cannot be learned from as the trainer reads it, if that is so; and the row with its tokens."""
    view = wanted.view
    if wanted.part not in (None, row.split):
        return "other_split", row
    if view.purpose != "all" and not any(row.train):
        return "nothing_to_learn", row
    if not view.shows_tools and row.definitions and "tools_not_shown" not in wanted.include:
        return "tools_not_shown", row
    if wanted.tokens is not None:
        try:
            return None, replace(row, tokens=wanted.tokens.of(row))
        except UsageError:
            return "not_in_format", row
    if view.is_parquet and not _is_text(row):
        return "not_in_format", row
    is_partial = any(
        message.role == "assistant" and not learned for message, learned in zip(row.source, row.train, strict=True)
    )
    return ("mask" if is_partial and not view.takes_mask else None), row


@dataclass(slots=True, kw_only=True)
class _Made:
    """What came of one trial.

    Attributes:
        reason: Why nothing of it is exported; None if something is.
        beside: Why histories within it are not exported beside those that are.
    """

    reason: str | None = None
    rows: list[Row] = field(default_factory=list[Row])
    beside: list[str] = field(default_factory=list[str])


def _is_text(row: Row) -> bool:
    """Whether there is nothing but text, and whole characters: no images, no halves of surrogate pairs."""
    messages = row.messages(as_text=True)
    try:
        json.dumps(messages, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return all(isinstance(message["content"], str | None) for message in messages)


def _of_member(group: Group, member: Member, wanted: Wanted, notes: list[str]) -> _Made:
    reason = _against_trial(member.trial, wanted)
    if reason is not None:
        return _Made(reason=reason)
    made = _Made()
    try:
        for number, branch in enumerate(branches_of(group.journal, member.runs)):
            against = _against_branch(branch, group.settings, wanted)
            if against is None:
                row = _row(group, member, branch, wanted, number)
                against = None if _is_wanted(row, member, wanted) else "filtered"
                made.rows += [] if against else [row]
            made.beside += [] if against is None else [against]
    except JournalError as error:
        notes.append(f"Run {', '.join(member.runs)} cannot be read: {error}")
        return _Made(reason="unreadable")
    worst = next((reason for reason in made.beside if reason != "no_model"), None)
    if not made.rows or (worst is not None and wanted.view.purpose == "reinforcement"):
        return _Made(reason=worst or next(iter(made.beside), "unreadable"))
    return made


def _against_trial(trial: object, wanted: Wanted) -> str | None:
    verdict: Verdict | None = getattr(trial, "verdict", None)
    reason = None
    if verdict is None:
        reason = "unjudged" if wanted.view.purpose != "all" else None
    elif verdict.kind == "unscored":
        reason = "unscored"
    elif verdict.kind == "invalid-task":
        reason = "invalid_task"
    elif verdict.kind != "pass" and verdict.layer not in (None, "model"):
        reason = "other_layer"
    return None if reason in wanted.include else reason


def _is_retold(model: str, settings: Mapping[str, str]) -> bool:
    """Whether the model was shown the conversation in other words: as text, or in questions; or may have been."""
    actions, strategy = settings.get("actions", "calls"), settings.get("strategy")
    if actions != "calls" or strategy == "native":
        return actions in _IN_TEXT
    return strategy == "guided" or model.startswith(_CAN_BE_LED)


def _against_branch(branch: Branch, settings: Mapping[str, str], wanted: Wanted) -> str | None:
    if branch.model.startswith(_NO_MODEL):
        return "no_model"
    found = {
        "retold": _is_retold(branch.model, settings),
        "unfinished": branch.state.status != "finished",
        "truncated": any("truncated" in said.reasons for said in branch.said),
        "unknown_tools": not branch.has_all_tools,
    }
    return next((reason for reason, is_so in found.items() if is_so and reason not in wanted.include), None)


def _is_wanted(row: Row, member: Member, wanted: Wanted) -> bool:
    if wanted.min_reward is not None and (row.reward is None or row.reward < wanted.min_reward):
        return False
    trial = member.trial
    values = {
        "suite": getattr(trial, "suite", None),
        "category": getattr(trial, "category", None),
        **{name: getattr(row, name) for name in WHERE if name not in ("suite", "category")},
    }
    return all(
        (NONE if values[name] is None else str(values[name])) in allowed for name, allowed in wanted.where.items()
    )


def reward_of(verdict: Verdict | None) -> float | None:
    """1 for a pass, 0 for what the model did wrong, and nothing for all else."""
    if verdict is None:
        return None
    if verdict.kind == "pass":
        return 1.0
    return 0.0 if verdict.kind in ("fail", "abstain") and verdict.layer in (None, "model") else None


def _row(group: Group, member: Member, branch: Branch, wanted: Wanted, number: int) -> Row:
    trial, model = member.trial, branch.model
    if wanted.redaction.patterns:
        branch = redacted(branch, wanted.redaction.data)
    learned = [_why_not(said, wanted) for said in branch.said]
    layer = None if trial is None else trial.verdict.layer
    if trial is None and branch.state.status != "finished":
        decided = decisive(faults(group.journal.read(branch.runs[-1])))
        layer = None if decided is None else decided.layer
    return Row(
        id=f"{member.runs[0]}-{number}" if number else member.runs[0],
        task_id=group.task_id,
        group_id=group.id,
        trial=None if trial is None else trial.trial,
        source=tuple(said.message for said in branch.said),
        definitions=branch.definitions,
        train=tuple(
            why is None and said.message.role == "assistant" for said, why in zip(branch.said, learned, strict=True)
        ),
        untrained=tuple(learned),
        reward=None if trial is None else reward_of(trial.verdict),
        rewards={} if trial is None else {name: reward_of(each) for name, each in sorted(trial.others.items())},
        advantage=None,
        split=split_of(group.split_by, wanted.share),
        model=model,
        harness_version=group.harness,
        stop_reason=branch.state.stop_reason,
        failure_layer=layer,
        license=wanted.license,
        verdict=None if trial is None else trial.verdict.kind,
        configuration=None if trial is None else trial.configuration,
        runs=branch.runs,
        parent=branch.parent,
    )


def _why_not(said: Said, wanted: Wanted) -> str | None:
    """Why the message is not learned from; None if it is."""
    if said.reasons == (GIVEN,):
        return GIVEN
    counting = _NOT_SAMPLED if wanted.view.purpose == "reinforcement" else MESSAGE_REASONS
    return next((reason for reason in said.reasons if reason in counting and reason not in wanted.include), None)
