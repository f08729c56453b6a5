"""The answers of chat-completions servers, put together piece by piece.

Pure. Servers disagree about deltas of calls: some leave out the index or the id, count every call as index 0, send a
call in one chunk, send arguments as an object, or repeat an id. One rule decides which call a delta belongs to
(`_CallTable`).
Law: the reply does not depend on how a server cuts text and arguments into chunks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from wieldy.connect.models.answers import Delta, read_streamed_call, token_count
from wieldy.connect.models.failures import ServerFacts, failure_of_event, not_the_protocol
from wieldy.connect.models.identifiers import unique_id
from wieldy.core.calls import AnyCall
from wieldy.core.errors import ContentFilterError, ProviderError
from wieldy.core.events import CallDelta, ReasoningDelta, TextDelta
from wieldy.core.json import JsonObject
from wieldy.core.limits import Usage
from wieldy.core.messages import Message
from wieldy.core.ports import ModelReply

_REASONING_FIELDS = ("reasoning_content", "reasoning")
_CUT = ("length", "max_tokens", "model_length")
_FILTERED = "content_filter"
_FAILED = ("error", "abort")

_Object: TypeAlias = dict[str, Any]  # what a wire sends, not yet looked at


@dataclass(slots=True, kw_only=True)
class _Call:
    index: int | None
    id: str | None
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return "".join(self.arguments)

    @property
    def is_whole(self) -> bool:
        """Whether the arguments are one finished object, after which only another call can follow."""
        if not self.arguments or not self.arguments[-1].rstrip().endswith("}"):
            return False
        try:
            return isinstance(json.loads(self.text), dict)
        except (ValueError, RecursionError):
            return False


class _CallTable:
    """The calls of an answer while they grow.

    A delta belongs to the latest call with its index; without an index, to the call with its id. One that brings
    neither a known index nor an id nor a name belongs to the latest call. It opens a new call if there is none, if it
    names a function under another id, or if it brings a name and arguments to a call whose arguments are finished.
    """

    def __init__(self) -> None:
        self.calls: list[_Call] = []

    def feed(self, *, index: int | None, call_id: str | None, name: str, arguments: str) -> CallDelta:
        call = self._owner(index=index, call_id=call_id, has_name=bool(name))
        if call is None or _opens_another(call, call_id=call_id, name=name, arguments=arguments):
            call = _Call(index=index, id=call_id)
            self.calls.append(call)
        call.id = call.id or call_id
        is_named = bool(name) and name != call.name
        if is_named:
            call.name += name
        if arguments:
            call.arguments.append(arguments)
        return CallDelta(index=self._place_of(call), name=call.name if is_named else None, arguments=arguments)

    def _place_of(self, call: _Call) -> int:
        # From the end, because that is where calls grow.
        return next(place for place in range(len(self.calls) - 1, -1, -1) if self.calls[place] is call)

    def _owner(self, *, index: int | None, call_id: str | None, has_name: bool) -> _Call | None:
        if index is not None:
            same = [call for call in self.calls if call.index == index]
        elif call_id is not None:
            same = [call for call in self.calls if call.id == call_id]
        else:
            same = []
        if same:
            return same[-1]
        is_bare = not has_name and call_id is None
        return self.calls[-1] if self.calls and is_bare else None


def _opens_another(call: _Call, *, call_id: str | None, name: str, arguments: str) -> bool:
    if not name:
        return False
    if call_id and call.id and call_id != call.id:
        return True
    return bool(arguments.strip()) and call.is_whole


class ChatAssembly:
    """Puts one answer together; see `http.Assembly`."""

    def __init__(
        self,
        server: ServerFacts,
        *,
        taken_ids: Iterable[str] = (),
        learn_reasoning_field: Callable[[str], object] | None = None,
    ) -> None:
        """Starts empty.

        Args:
            server: For errors.
            taken_ids: Ids of earlier calls, which the new ones must not repeat.
            learn_reasoning_field: Told the name under which the server sends reasoning.
        """
        self._learn_reasoning_field = learn_reasoning_field
        self._server = server
        self._taken_ids = set(taken_ids)
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls = _CallTable()
        self._usage = Usage(requests=1)
        self._finish: str | None = None
        self._is_over = False

    @property
    def is_complete(self) -> bool:
        """Whether the server has said how the answer ended."""
        return self._finish is not None

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to come."""
        return self._is_over

    def feed(self, data: JsonObject) -> Iterator[Delta]:
        """What one chunk adds.

        Raises:
            ModelError: The chunk reports an error, or is not of this protocol.
        """
        if data.get("error"):
            raise failure_of_event(self._server, data["error"])
        self._usage = _usage(data.get("usage")) or self._usage
        for choice in self._objects(data.get("choices"), "choices"):
            if choice.get("error"):
                raise failure_of_event(self._server, choice["error"])
            if choice.get("index") in (0, None):
                yield from self._feed_message(choice.get("delta") or choice.get("message") or {})
                self._finish = choice.get("finish_reason") or self._finish

    def feed_whole(self, answer: JsonObject) -> Iterator[Delta]:
        """What the answer of a server that does not stream holds.

        Raises:
            ModelError: It reports an error, or is not of this protocol.
        """
        match answer:
            case {"choices": [{"message": {"tool_calls": list(calls)}}, *_]}:
                # Their place is what tells calls apart that have no id or share one.
                for index, call in enumerate(calls):
                    if isinstance(call, dict):
                        call["index"] = index
            case {"choices": [{"message": dict()}, *_]} | {"error": _}:
                pass
            case _:
                raise not_the_protocol(self._server, expected="an answer with 'choices'", found=json.dumps(answer))
        yield from self.feed(answer)
        self.end()

    def end(self) -> None:
        """The server says that the stream is over."""
        self._is_over = True
        self._finish = self._finish or "stop"

    def close(self) -> ModelReply:
        """The whole answer.

        Raises:
            ModelError: It is not complete, was filtered, or failed at the server.
        """
        finish = self._checked_finish()
        calls = list(self._read_calls(was_cut=finish == "length"))
        message = Message.assistant("".join(self._text), calls, reasoning="".join(self._reasoning))
        return ModelReply(message=message, usage=self._usage, finish=finish)

    def rest(self) -> Iterable[Delta]:
        """Everything has been told as it came."""
        return ()

    def _checked_finish(self) -> Literal["stop", "length"]:
        if self._finish is None:
            raise ProviderError(
                f"The stream of {self._server.address} ended before the answer did. The answer so far is not used.",
                is_transient=True,
            )
        if self._finish == _FILTERED:
            raise ContentFilterError(
                f"A content filter of {self._server.address} stopped the answer. The answer so far is not used."
            )
        if self._finish in _FAILED:
            raise ProviderError(f"{self._server.address} gave up its answer (finish reason {self._finish!r}).")
        return "length" if self._finish in _CUT else "stop"

    def _feed_message(self, message: object) -> Iterator[Delta]:
        if not isinstance(message, dict):
            raise not_the_protocol(self._server, expected="an object in 'delta'", found=repr(message))
        delta = cast("_Object", message)
        for field_name in _REASONING_FIELDS:
            reasoning = self._text_of(delta.get(field_name))
            if reasoning:
                if self._learn_reasoning_field is not None:
                    self._learn_reasoning_field(field_name)
                yield self._add_reasoning(reasoning)
                break  # a server in transition sends the same text under both names
        yield from self._feed_content(delta.get("content"))
        refusal = self._text_of(delta.get("refusal"))
        if refusal:
            yield self._add_text(refusal)
        for call in self._objects(delta.get("tool_calls"), "tool_calls"):
            delta = self._feed_call(call)
            if delta.name is not None or delta.arguments:
                yield delta

    def _feed_content(self, content: object) -> Iterator[Delta]:
        if not isinstance(content, list):
            text = self._text_of(content)
            if text:
                yield self._add_text(text)
            return
        for part in self._objects(cast("object", content), "content"):
            if isinstance(part.get("thinking"), list):
                pieces = self._objects(part["thinking"], "thinking")
                yield self._add_reasoning("".join(self._text_of(piece.get("text")) for piece in pieces))
            elif part.get("text"):
                yield self._add_text(self._text_of(part["text"]))

    def _add_text(self, text: str) -> TextDelta:
        self._text.append(text)
        return TextDelta(text=text)

    def _add_reasoning(self, text: str) -> ReasoningDelta:
        self._reasoning.append(text)
        return ReasoningDelta(text=text)

    def _feed_call(self, call: _Object) -> CallDelta:
        raw = call.get("function")
        function = cast("_Object", raw) if isinstance(raw, dict) else call
        arguments = function.get("arguments")
        index = call.get("index")
        return self._calls.feed(
            index=index if isinstance(index, int) else None,
            call_id=self._text_of(call.get("id")) or None,
            name=self._text_of(function.get("name")),
            arguments=arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments),
        )

    def _read_calls(self, *, was_cut: bool) -> Iterator[AnyCall]:
        for call in self._calls.calls:
            call_id = unique_id(call.id, self._taken_ids)
            self._taken_ids.add(call_id)
            is_last = call is self._calls.calls[-1]
            yield read_streamed_call(
                call_id=call_id,
                name=call.name,
                arguments=call.text,
                provider_id=call.id,
                was_cut=was_cut and is_last,
            )

    def _text_of(self, value: object) -> str:
        if value is None:
            return ""
        if not isinstance(value, str):
            raise not_the_protocol(self._server, expected="text", found=str(value))
        return value

    def _objects(self, value: object, field_name: str) -> list[_Object]:
        items = cast("list[object]", value) if isinstance(value, list) else [] if value is None else [value]
        if not all(isinstance(item, dict) for item in items):
            raise not_the_protocol(self._server, expected=f"a list of objects in {field_name!r}", found=repr(items))
        return cast("list[_Object]", items)


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    fields = cast("_Object", value)
    return Usage(
        input_tokens=token_count(fields.get("prompt_tokens")),
        output_tokens=token_count(fields.get("completion_tokens")),
        requests=1,
        cached_input_tokens=_cached_tokens(fields),
    )


def _cached_tokens(usage: _Object) -> int:
    details = usage.get("prompt_tokens_details")
    if isinstance(details, dict):
        return token_count(cast("_Object", details).get("cached_tokens"))
    return token_count(usage.get("prompt_cache_hit_tokens"))  # what DeepSeek calls it
