"""One call of a run, told whole: what was asked for, and what became of it at every boundary, with the entries.

Deliberately not here: the steps around it (`trajectory`); whose failure it was (`wieldy.evals.verdicts.attribution`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from wieldy.core.json import JsonObject
from wieldy.core.ports import Entry
from wieldy.evals.reports.page.redaction import Redaction
from wieldy.run.journal import kinds

Data = Mapping[str, Any]
"""What an entry holds, as it was written; whoever wrote it, nothing is taken for granted."""

FACTS: Final[Mapping[str, str]] = {
    "recorded_as": "the result of this earlier call was given again",
    "answered_by": "the fallback tool that answered",
    "tells_of": "calls that came late, of which the result tells",
    "left": "left open by runs that it started",
    "usage": "what its code used of models",
    "answer": "the answer that it gave",
    "handle": "by which the rest of the result can be read",
    "failure": "kind of failure, for code",
}
"""What an outcome may say besides, in words; told if it is there."""


@dataclass(slots=True, kw_only=True)
class CallStep:
    """A call and what is known of it; `to_json` is the step as the page is given it.

    Attributes:
        part: Of the reply: the call as it was written.
        entries: The numbers of the entries that tell of it, and when each was written, in seconds from the beginning.
        nested: Where the run that its code started stands among the runs of the chunk; None if there is none.
        faults: What went wrong at its boundaries.
    """

    part: Data
    redaction: Redaction
    entries: list[int]
    began: float
    at_s: float
    asked: list[JsonObject] = field(default_factory=list[JsonObject])
    attempts: list[JsonObject] = field(default_factory=list[JsonObject])
    outcomes: list[JsonObject] = field(default_factory=list[JsonObject])
    ran: Data | None = None
    nested: int | None = None
    faults: list[JsonObject] = field(default_factory=list[JsonObject])

    @property
    def id(self) -> str:
        """The run's own id of it."""
        return str(self.part.get("id"))

    def read(self, entry: Entry) -> None:
        """The entry tells of this call."""
        data = cast("Data", entry.data)
        self.entries.append(entry.sequence)
        where: JsonObject = {"entry": entry.sequence, "at_s": entry.time - self.began}
        match entry.kind:
            case kinds.CALL_WAITING:
                self.asked.append({**where, "kind": "question", "text": self._text(data.get("reason"))})
            case kinds.APPROVAL:
                granted = "approved" if data.get("is_granted") else "denied"
                words = f"{granted} by {data.get('by')}" + (f": {data['reason']}" if data.get("reason") else "")
                self.asked.append({**where, "kind": granted, "text": self._text(words)})
            case kinds.CALL_STARTED:
                self.ran = data
                self.attempts.append({**where, **self._started(data)})
            case kinds.ATTEMPT_FAILED:
                self._fail(entry, data)
            case kinds.CALL_FINISHED | kinds.CALL_CAME_LATE:
                self.outcomes.append({**where, "kind": entry.kind, **self._outcome(data)})
            case _:
                pass

    def to_json(self) -> JsonObject:
        """The step: every member is text as it is to be shown, a number, or a list of such objects."""
        is_read = self.part.get("type") == "call"
        arguments = self.redaction.json(self.part.get("arguments")) if is_read else None
        step: JsonObject = {
            "kind": "call",
            "entry": self.entries[0],
            "entries": [*self.entries],
            "at_s": self.at_s,
            "name": None if self.part.get("name") is None else str(self.part.get("name")),
            "key": self._key(),
            "arguments": arguments,
            "unreadable": None if is_read else self._text(self.part.get("text")),
            "error": None if is_read else self._text(self.part.get("error")),
            "policy": self._policy(),
            "asked": [*self.asked],
            "attempts": [*self.attempts],
            "outcomes": [*self.outcomes],
            "faults": [*self.faults],
        }
        step |= self._changed(arguments)
        for name in ("influence", "forced"):
            if self.part.get(name):
                step[name] = self.redaction.json(self.part[name])
        return step if self.nested is None else {**step, "nested": self.nested}

    def _changed(self, arguments: str | None) -> JsonObject:
        """What ran, where it is not what was written, and why."""
        if self.ran is None:
            return {}
        ran = self.redaction.json(self.ran.get("arguments"))
        repairs = [self._text(repair) for repair in self.ran.get("repairs") or ()]
        return {"ran": None if ran == arguments else ran, "repairs": [*repairs]}

    def _policy(self) -> JsonObject:
        last = self.outcomes[0] if self.outcomes else {}
        if last.get("layer") == "policy":
            return {"kind": "denied", "text": str(last.get("text"))}
        if self.ran is not None:
            by = self.ran.get("approved_by")
            words = "allowed" if by is None else self._text(f"allowed, because it was approved by {by}")
            return {"kind": "allowed", "text": words}
        if self.asked and not self.outcomes:
            return {"kind": "waiting", "text": "waits for a person's decision"}
        return {"kind": "none", "text": "not reached: the call ended before the policy let it run"}

    def _started(self, data: Data) -> JsonObject:
        told: JsonObject = {
            "number": int(data.get("attempt") or 1),
            "tool": str(data.get("tool_name")),
            "effect": str(data.get("effect")),
            "origin": self._text(data.get("origin")),
            "idempotency_key": str(data.get("idempotency_key")),
            "took_s": None,
            "error": None,
        }
        repeats = [str(each) for each in data.get("repeats") or ()]
        return {**told, "repeats": [*repeats]} if repeats else told

    def _fail(self, entry: Entry, data: Data) -> None:
        failed: JsonObject = {
            "failed_entry": entry.sequence,
            "error": self._text(f"{data.get('error')}: {data.get('message')}"),
            "wait_s": _number(data.get("wait_s")),
            "nothing_done": data.get("nothing_done") is True,
        }
        if not self.attempts:
            self.attempts.append(
                {"entry": entry.sequence, "number": 1, "at_s": entry.time - self.began, "took_s": None}
            )
        attempt = self.attempts[-1]
        self.attempts[-1] = {**attempt, **failed, "took_s": entry.time - self.began - _number(attempt["at_s"])}

    def _outcome(self, data: Data) -> JsonObject:
        result = cast("Data", data.get("result") or {})
        structured = result.get("structured_content")
        is_unknown = data.get("is_unknown") is True
        facts = [
            [words, self.redaction.json(found)]
            for name, words in FACTS.items()
            if (found := data.get(name, result.get(name)))
        ]
        return {
            "text": self._text(result.get("content")),
            "structured": None if structured is None else self.redaction.json(structured),
            "media": [self._text(medium(part)) for part in result.get("parts") or ()],
            "is_error": result.get("is_error") is True,
            "is_unknown": is_unknown,
            "layer": result.get("layer"),
            "source": None if result.get("source") is None else self._text(result.get("source")),
            "trust": str(result.get("trust", "trusted")),
            "tainted_by": [self._text(source) for source in result.get("tainted_by") or ()],
            "duration_s": _number(data.get("duration_s")),
            "whole": None if data.get("whole") is None else self._text(data.get("whole")),
            "detail": None if data.get("detail") is None else self._text(data.get("detail")),
            "facts": cast("Any", facts),
        }

    def _key(self) -> str | None:
        """The same for calls that ask for the same and are told the same, whatever their ids and times."""
        told = [(each["kind"], each["text"], each["is_error"]) for each in self.outcomes]
        asked = self.part.get("name"), self.part.get("arguments", self.part.get("text"))
        return self.redaction.key("call", asked, told)

    def _text(self, value: object) -> str:
        return self.redaction.text("" if value is None else str(value))


def medium(part: Data) -> str:
    """An image or a file in words; the page shows no picture, because a picture of strangers is more than text."""
    url = str(part.get("url"))
    where = f"{url.partition(',')[0]}, {len(url):,} characters" if url.startswith("data:") else url
    name = f" {part.get('name')!r}, {part.get('media_type')}" if part.get("type") == "file" else ""
    return f"{part.get('type')}{name}: {where}"


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
