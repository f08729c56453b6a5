"""Recording what a model answered, and answering the same again without it.

A recording is a file of JSON lines: each message and tool once, under its digest; each reply with the digests of its
request. Law: a request that was recorded gets the reply that was recorded. Call ids are compared by their place in
the conversation only, since a run may choose them at random. Deliberately not here: answering a request that is
merely alike.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue, canonical_json, digest
from wieldy.core.messages import Message
from wieldy.core.ports import Model, ModelEvent, ModelReply, ModelRequest
from wieldy.run.records import (
    definition_to_json,
    message_from_json,
    message_to_json,
    output_to_json,
    reply_to_json,
    usage_from_json,
)
from wieldy.testing.scripted import deltas_of

_FORMAT = "wieldy recording 1"
_EXCERPT_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A request as it is compared: JSON without the accidents of ids."""

    messages: tuple[JsonObject, ...]
    tools: tuple[JsonObject, ...]
    settings: JsonObject

    @property
    def key(self) -> str:
        return digest(
            [digest(message) for message in self.messages], [digest(tool) for tool in self.tools], self.settings
        )


def record(model: Model, path: str | Path) -> RecordingModel:
    """The model, with every reply written to a new file.

    Raises:
        UsageError: The file cannot be written, or holds something already.
    """
    return RecordingModel(model, path)


class RecordingModel:
    """A model around a model: what the inner one replies is written down and passed on."""

    def __init__(self, model: Model, path: str | Path) -> None:
        self._model = model
        self._path = Path(path)
        self._written: set[str] = set()
        try:
            has_content = self._path.exists() and self._path.stat().st_size > 0
            if not has_content:
                self._append({"format": _FORMAT, "model": model.name})
        except OSError as error:
            raise UsageError(f"The recording {str(self._path)!r} cannot be written: {error}") from error
        if has_content:
            raise UsageError(f"{str(self._path)!r} is not empty. Delete it to record anew, or choose another file.")

    @property
    def name(self) -> str:
        """The name of the inner model."""
        return self._model.name

    async def __aenter__(self) -> Self:
        if isinstance(self._model, AbstractAsyncContextManager):
            await self._model.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(self._model, AbstractAsyncContextManager):
            await self._model.__aexit__(kind, error, trace)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """What the inner model gives; a reply is on file before it is passed on.

        Raises:
            ModelError: The inner model could not answer; nothing is recorded then.
        """
        events = self._model.stream(request)
        try:
            async for event in events:
                if isinstance(event, ModelReply):
                    self._record(_question(request), event)
                yield event
        finally:
            # A generator that is left before its end is closed here, by the task that runs it.
            if isinstance(events, AsyncGenerator):
                await cast("AsyncGenerator[ModelEvent]", events).aclose()

    def _record(self, question: _Question, reply: ModelReply) -> None:
        for value in (*question.messages, *question.tools):
            key = digest(value)
            if key not in self._written:
                self._written.add(key)
                self._append({"digest": key, "value": value})
        self._append(
            {
                "messages": [digest(message) for message in question.messages],
                "tools": [digest(tool) for tool in question.tools],
                "settings": question.settings,
                "reply": reply_to_json(reply),
            }
        )

    def _append(self, line: JsonObject) -> None:
        # ASCII only, so that no half of a surrogate pair in a model's text keeps it from being written.
        with self._path.open("a", encoding="ascii") as file:
            file.write(json.dumps(line) + "\n")


class ReplayedModel:
    """A model that answers what was recorded; several replies to one request come in the order of the recording."""

    def __init__(self, path: str | Path) -> None:
        """Reads the whole recording.

        Raises:
            UsageError: The file cannot be read or is no recording.
        """
        self._path = Path(path)
        self._questions: list[_Question] = []
        self._replies: defaultdict[str, list[ModelReply]] = defaultdict(list)
        self._asked: defaultdict[str, int] = defaultdict(int)
        self._model = "unknown"
        self._read()

    def __repr__(self) -> str:
        return f"ReplayedModel({str(self._path)!r})"

    @property
    def name(self) -> str:
        """`replayed:` and the name of the model that was recorded."""
        return f"replayed:{self._model}"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Deltas, then the recorded reply; the last one again where a request is made more often than it was recorded.

        Raises:
            UsageError: This request was not recorded; the text says where it differs from the most similar one.
        """
        question = _question(request)
        replies = self._replies.get(question.key)
        if not replies:
            raise UsageError(f"{str(self._path)!r} holds no such request: {self._difference(question)}.")
        reply = replies[min(self._asked[question.key], len(replies) - 1)]
        self._asked[question.key] += 1
        for delta in deltas_of(reply.message):
            yield delta
        yield reply

    def _read(self) -> None:
        values: dict[str, JsonObject] = {}
        try:
            lines = self._path.read_text(encoding="utf-8").rstrip("\n").split("\n")
        except (OSError, ValueError) as error:
            raise UsageError(f"The recording {str(self._path)!r} cannot be read: {error}") from error
        for number, line in enumerate(lines, start=1):
            try:
                self._read_line(json.loads(line), values, is_first=number == 1)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise UsageError(
                    f"{str(self._path)!r}, line {number}: expected a line of a recording, "
                    f"found {line[:80]!r} ({error!r})"
                ) from error

    def _read_line(self, line: dict[str, Any], values: dict[str, JsonObject], *, is_first: bool) -> None:
        if is_first:
            if line["format"] != _FORMAT:
                raise ValueError(f"the format is not {_FORMAT!r}")
            self._model = str(line["model"])
        elif "digest" in line:
            values[line["digest"]] = line["value"]
        else:
            question = _Question(
                messages=tuple(values[key] for key in line["messages"]),
                tools=tuple(values[key] for key in line["tools"]),
                settings=line["settings"],
            )
            self._questions.append(question)
            self._replies[question.key].append(_reply(line["reply"]))

    def _difference(self, question: _Question) -> str:
        if not self._questions:
            return "it holds no request at all"
        nearest = max(self._questions, key=lambda recorded: _common(recorded.messages, question.messages))
        return "; ".join(_differences(nearest, question))


def _question(request: ModelRequest) -> _Question:
    return _Question(
        messages=tuple(_without_ids(request.messages)),
        tools=tuple(definition_to_json(definition) for definition in request.tools),
        settings={
            "tool_choice": request.tool_choice.mode,
            "tool_name": request.tool_choice.name,
            "max_output_tokens": request.max_output_tokens,
            **({"stop": list(request.stop)} if request.stop else {}),
            **({"options": request.options} if request.options else {}),
            **({} if request.output is None else {"output": output_to_json(request.output)}),
        },
    )


def _without_ids(messages: Sequence[Message]) -> Iterator[JsonObject]:
    places: dict[str, str] = {}
    for message in messages:
        data = message_to_json(message)
        for part in cast("list[dict[str, Any]]", data["parts"]):
            if part["type"] in ("call", "invalid_call"):
                place = places.setdefault(part["id"], f"call {len(places) + 1}")
                part.update(id=place, provider_id=None)
            elif part["type"] == "result":
                part["tool_call_id"] = places.get(part["tool_call_id"], part["tool_call_id"])
        yield data


def _reply(data: dict[str, Any]) -> ModelReply:
    return ModelReply(
        message=message_from_json(data["message"]),
        usage=usage_from_json(data["usage"]),
        finish=data["finish"],
        forced=tuple(data.get("forced", ())),
        held=data.get("held", False),
    )


def _common(recorded: Sequence[JsonObject], asked: Sequence[JsonObject]) -> int:
    count = 0
    for left, right in zip(recorded, asked, strict=False):
        if left != right:
            break
        count += 1
    return count


def _differences(recorded: _Question, asked: _Question) -> Iterator[str]:
    same = _common(recorded.messages, asked.messages)
    if same < min(len(recorded.messages), len(asked.messages)):
        yield f"messages[{same}] was recorded as {_excerpts(recorded.messages[same], asked.messages[same])}"
    elif len(recorded.messages) != len(asked.messages):
        yield (
            f"after {same} equal messages {len(recorded.messages) - same} more were recorded "
            f"and {len(asked.messages) - same} more are asked"
        )
    old = {str(tool["name"]): tool for tool in recorded.tools}
    new = {str(tool["name"]): tool for tool in asked.tools}
    for verb, names in (
        ("are missing", old.keys() - new.keys()),
        ("are new", new.keys() - old.keys()),
        ("have changed", {name for name in old.keys() & new.keys() if old[name] != new[name]}),
    ):
        if names:
            yield f"the tools {', '.join(sorted(names))} {verb}"
    if recorded.tools != asked.tools and old == new:
        yield "the tools are in another order"
    for key, value in recorded.settings.items():
        if asked.settings[key] != value:
            yield f"{key} was recorded as {value!r} and is asked as {asked.settings[key]!r}"


def _excerpts(recorded: JsonValue, asked: JsonValue) -> str:
    """Both texts around the first place where they differ."""
    left, right = canonical_json(recorded), canonical_json(asked)
    place = next((index for index, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]), 0)
    start = max(0, place - _EXCERPT_CHARACTERS // 2)
    end = place + _EXCERPT_CHARACTERS
    return f"...{left[start:end]}... and is asked as ...{right[start:end]}..."
