"""One run told step by step, from the entries of its journal and from nothing else.

A step is a message, a reply, a call with all that became of it, or an event such as a limit; its members are text as it
is to be shown, and numbers. `key` says what a step is: two runs agree on steps with equal keys. Replies that make calls
are the same if they make the same calls, whatever was said beside them; calls are the same if they ask for the same and
are told the same. Law: whatever the entries are, each is told of by a step. Deliberately not here: calls
(`call_steps`), time (`timeline`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from wieldy.core.errors import JournalError
from wieldy.core.json import JsonObject
from wieldy.core.ports import Entry
from wieldy.evals.reports.page.call_steps import CallStep, Data, medium
from wieldy.evals.reports.page.redaction import Redaction
from wieldy.evals.reports.page.timeline import Span, spans_of
from wieldy.evals.verdicts.attribution import DIED, Fault, faults
from wieldy.run.journal import kinds

_ENDS: Final[Mapping[str, str]] = {
    kinds.RUN_FINISHED: "finished",
    kinds.RUN_FAILED: "failed",
    kinds.RUN_INTERRUPTED: "interrupted",
    kinds.RUN_PAUSED: "paused",
    kinds.RUN_RESUMED: "resumed",
    kinds.LIMIT_REACHED: "limit reached",
}
_TELLING: Final = ("stop_reason", "reason", "error", "message", "by", "waiting")
_OF_START: Final = ("limits", "output", "principal", "parent", "tainted_by", "metadata")

_UNEXPECTED: Final = (KeyError, TypeError, ValueError, AttributeError, IndexError, JournalError)
"""What comes of data that has not the form that its kind says."""
_NOT_READ: Final = "it lacks or holds something unexpected"

ToolNumber = Callable[[JsonObject], int]
"""Where a tool's definition stands among those of the chunk."""


def trajectory_of(
    run_id: str,
    entries: Sequence[Entry],
    *,
    redaction: Redaction,
    tool_number: ToolNumber,
    nested: Mapping[str, int] = {},
    is_going_on: bool = False,
) -> JsonObject:
    """The run as the page is given it: `id`, `model`, `began`, `took_s`, `tools`, `facts`, `steps`, `spans`, `faults`.

    Args:
        run_id: Its id.
        entries: All of the run.
        redaction: Takes out what must not be shown.
        tool_number: Gives each definition that the run offered a number.
        nested: Where runs stand that calls of this one started, by the calls' ids.
        is_going_on: Whether somebody is at work on it, so that its record may stop anywhere.
    """
    reader = _Reader(entries, redaction)
    for entry in entries:
        reader.read(entry)
    found: list[JsonObject] = [
        {
            "layer": fault.layer,
            "text": redaction.text(fault.reason),
            "evidence": [*fault.evidence],
            "is_recovered": fault.is_recovered,
        }
        for fault in _faults(entries)
        if not (is_going_on and fault.code == DIED)
    ]
    for call in reader.calls.values():
        call.nested = nested.get(call.id)
        call.faults = [fault for fault in found if set(cast("list[int]", fault["evidence"])) & set(call.entries[1:])]
    start = cast("Data", entries[0].data if entries else {})
    times = [entry.time for entry in entries] or [0.0]
    tools = [tool_number(offered) for offered in _tools(start, redaction)]
    facts = [[name, redaction.json(start[name])] for name in _OF_START if start.get(name)]
    return {
        "id": run_id,
        "model": redaction.text(str(start.get("model"))),
        "began": times[0],
        "took_s": max(times) - times[0],
        "entries": len(entries),
        "tools": [*tools],
        "facts": cast("Any", facts),
        "steps": [*reader.told()],
        "spans": cast("Any", [{**span, "name": redaction.text(span["name"])} for span in _spans(entries)]),
        "faults": [*found],
    }


def _faults(entries: Sequence[Entry]) -> Sequence[Fault]:
    try:
        return faults(entries)
    except _UNEXPECTED:  # whose failure it was cannot be told
        return ()


def _spans(entries: Sequence[Entry]) -> list[Span]:
    try:
        return spans_of(entries)
    except _UNEXPECTED:
        return []


def _tools(start: Data, redaction: Redaction) -> list[JsonObject]:
    try:
        return [_offered(tool, redaction) for tool in start.get("tools") or ()]
    except _UNEXPECTED:
        return []


class _Reader:
    """Makes steps of entries. A call is one step at the place where it was asked for."""

    def __init__(self, entries: Sequence[Entry], redaction: Redaction) -> None:
        self.steps: list[JsonObject | CallStep] = []
        self.calls: dict[str, CallStep] = {}
        self._began = entries[0].time if entries else 0.0
        self._redaction = redaction
        self._asked: Entry | None = None

    def read(self, entry: Entry) -> None:
        before = len(self.steps)
        try:
            self._read(entry)
        except _UNEXPECTED:
            del self.steps[before:]
            self._unexpected(entry)

    def told(self) -> list[JsonObject]:
        """All steps, as the page is given them."""
        return [step if isinstance(step, dict) else self._told(step) for step in self.steps]

    def _told(self, step: CallStep) -> JsonObject:
        try:
            return step.to_json()
        except _UNEXPECTED:
            return self._step(step.entries, step.at_s, kind="call", name=_NOT_READ, detail=step.part)

    def _read(self, entry: Entry) -> None:
        data = cast("Data", entry.data)
        match entry.kind:
            case kinds.RUN_STARTED:
                for message in data.get("messages") or ():
                    self._message(entry, message)
                if not data.get("messages"):
                    self._event(entry, "started")
            case kinds.TURN_STARTED:
                self._asked = entry
            case kinds.REPLY:
                self._reply(entry, data)
            case kinds.CORRECTION:
                self._message(entry, cast("Data", data.get("message") or {}))
            case kind if kind in _ENDS:
                self._event(entry, _ENDS[kind])
            case _:
                self._of_call(entry, data)

    def _message(self, entry: Entry, message: Data) -> None:
        data = cast("Data", entry.data)
        parts = cast("list[Data]", message.get("parts") or [])
        said = _said(parts)
        self.steps.append(
            {
                "kind": "message",
                "entry": entry.sequence,
                "at_s": entry.time - self._began,
                "role": str(message.get("role")),
                "key": self._redaction.key("message", message.get("role"), said, _calls(parts)),
                **self._words(parts),
                "detail": self._detail(data.get("detail")),
                "calls": [self._call_text(part) for part in parts if part.get("type") in ("call", "invalid_call")],
            }
        )

    def _reply(self, entry: Entry, data: Data) -> None:
        message = cast("Data", data.get("message") or {})
        parts = cast("list[Data]", message.get("parts") or [])
        asked, self._asked = self._asked, None
        calls = [part for part in parts if part.get("type") in ("call", "invalid_call")]
        usage = cast("Data", data.get("usage") or {})
        at_s = entry.time - self._began
        step: JsonObject = {
            "kind": "reply",
            "entry": entry.sequence,
            "entries": [entry.sequence] if asked is None else [asked.sequence, entry.sequence],
            "at_s": at_s,
            "took_s": None if asked is None else entry.time - asked.time,
            "turn": data.get("turn"),
            "key": self._redaction.key("reply", _calls(parts) if calls else _said(parts)),
            **self._words(parts),
            "call_count": len(calls),
            "usage": {name: value for name, value in usage.items() if isinstance(value, int | float)},
            "finish": str(data.get("finish")),
            "held": data.get("held") is True,
        }
        if data.get("forced"):
            step["forced"] = self._redaction.json(data["forced"])
        if asked is not None:
            step["asked"] = self._redaction.json(asked.data)
        self.steps.append(step)
        for part in calls:
            call = CallStep(
                part=part, redaction=self._redaction, entries=[entry.sequence], began=self._began, at_s=at_s
            )
            self.calls[call.id] = call
            self.steps.append(call)

    def _of_call(self, entry: Entry, data: Data) -> None:
        result = data.get("result")
        if isinstance(result, dict):
            call_id = str(cast("Data", result).get("tool_call_id"))
        else:
            call_id = str(data.get("call_id"))
        call = self.calls.get(call_id)
        if call is None and "call_id" not in data and not isinstance(result, dict):
            self._event(entry, entry.kind)
        elif call is None:
            self._event(entry, f"{entry.kind} of a call that is not in this run, {call_id}")
        else:
            call.read(entry)

    def _unexpected(self, entry: Entry) -> None:
        """An entry that lacks or holds something else than its kind says; it is told as it is."""
        self.steps.append(
            self._step([entry.sequence], entry.time - self._began, kind=entry.kind, name=_NOT_READ, detail=entry.data)
        )

    def _step(self, entries: Sequence[int], at_s: float, *, kind: str, name: str, detail: object) -> JsonObject:
        return {
            "kind": "event",
            "entry": entries[0],
            "entries": [*entries],
            "at_s": at_s,
            "type": kind,
            "name": self._redaction.text(f"{kind}: {name}"),
            "key": self._redaction.key("unexpected", kind, detail),
            "text": "",
            "detail": self._detail(detail),
        }

    def _event(self, entry: Entry, name: str) -> None:
        data = cast("Data", entry.data)
        told = {each: data[each] for each in _TELLING if data.get(each)}
        asked, self._asked = self._asked, None  # a model that was asked and gave no reply
        words = ": ".join(value if isinstance(value, str) else self._redaction.json(value) for value in told.values())
        detail: object = data.get("detail") or (None if entry.kind in _ENDS else data)
        self.steps.append(
            {
                "kind": "event",
                "entry": entry.sequence,
                "entries": [entry.sequence] if asked is None else [asked.sequence, entry.sequence],
                "at_s": entry.time - self._began,
                "type": entry.kind,
                "name": self._redaction.text(name),
                "key": self._redaction.key(
                    "event", entry.kind, [data.get(name) for name in ("stop_reason", "reason", "error")]
                ),
                "text": self._redaction.text(words),
                "detail": self._detail(detail),
            }
        )

    def _detail(self, detail: object) -> str | None:
        if detail is None or isinstance(detail, str):
            return detail and self._redaction.text(detail)
        return self._redaction.json(detail)

    def _words(self, parts: Sequence[Data]) -> JsonObject:
        clean = self._redaction.text
        return {
            "text": clean(_said(parts)),
            "reasoning": clean("".join(str(part.get("text")) for part in parts if part.get("type") == "reasoning")),
            "media": [clean(medium(part)) for part in parts if part.get("type") in ("image", "file")],
        }

    def _call_text(self, part: Data) -> str:
        written = part.get("arguments", part.get("text"))
        return f"{part.get('name')} {self._redaction.json(written)}"


def _offered(tool: Data, redaction: Redaction) -> JsonObject:
    """A definition as a model was offered it; its schema is text already."""
    clean = redaction.text
    return {
        "name": clean(str(tool.get("name"))),
        "description": clean(str(tool.get("description"))),
        "text": redaction.json(tool.get("input_schema")),
    }


def _said(parts: Sequence[Data]) -> str:
    told = (part.get("content") if part.get("type") == "result" else part.get("text") for part in _texts(parts))
    return "".join(str(text) for text in told)


def _texts(parts: Sequence[Data]) -> list[Data]:
    return [part for part in parts if part.get("type") in ("text", "result")]


def _calls(parts: Sequence[Data]) -> list[object]:
    return [
        [part.get("name"), part.get("arguments", part.get("text"))]
        for part in parts
        if part.get("type") in ("call", "invalid_call")
    ]
