"""The answers of Anthropic's Messages API, put together event by event.

Pure. An answer is a list of blocks (thinking, text, calls) that grow by deltas; their order is kept, and so are the
signatures of thinking, which the provider wants back unchanged. Law: the reply does not depend on how a block is cut.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from wieldy.connect.models.answers import Delta, read_streamed_call, token_count
from wieldy.connect.models.failures import ServerFacts, failure_of_event, not_the_protocol
from wieldy.connect.models.identifiers import unique_id
from wieldy.core.errors import ContentFilterError, ProviderError
from wieldy.core.events import CallDelta, ReasoningDelta, TextDelta
from wieldy.core.json import JsonObject
from wieldy.core.limits import Usage
from wieldy.core.messages import Message, Part, ReasoningPart, TextPart
from wieldy.core.ports import ModelReply

REDACTED = "redacted_thinking:"
"""Begins the signature of a `ReasoningPart` whose thinking the provider encrypted; the rest of it is the data."""

_CUT = ("max_tokens", "model_context_window_exceeded")
_REFUSED = "refusal"
_INPUT_FIELDS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")

_Object: TypeAlias = dict[str, Any]  # what a wire sends, not yet looked at


@dataclass(slots=True, kw_only=True)
class _Block:
    kind: str
    id: str | None = None
    name: str = ""
    input: object = None
    signature: str = ""
    place: int = 0
    pieces: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def arguments(self) -> str:
        """JSON text: the deltas where there were any, else the object that the block began with."""
        return self.text or (json.dumps(self.input) if self.input else "")


class MessageAssembly:
    """Puts one answer together; see `answers.Assembly`."""

    def __init__(self, server: ServerFacts, *, taken_ids: Iterable[str] = ()) -> None:
        """Starts empty.

        Args:
            server: For errors.
            taken_ids: Ids of earlier calls, which the new ones must not repeat.
        """
        self._server = server
        self._taken_ids = set(taken_ids)
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, int] = {}
        self._stop: _Object = {}
        self._is_over = False

    @property
    def is_complete(self) -> bool:
        """Whether the server has said how the answer ended."""
        return bool(self._stop.get("stop_reason"))

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to come."""
        return self._is_over

    def feed(self, data: JsonObject) -> Iterator[Delta]:
        """What one event adds; kinds of events that are not known are passed over, as the protocol asks.

        Raises:
            ModelError: The event reports an error, or is not of this protocol.
        """
        match data:
            case {"type": "error"}:
                raise failure_of_event(self._server, data.get("error"))
            case {"type": "message_start", "message": dict(message)}:
                self._count(message.get("usage"))
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                yield from self._start(index, block)
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                yield from self._grow(index, delta)
            case {"type": "message_delta", "delta": dict(delta)}:
                self._stop = {**self._stop, **delta}
                self._count(data.get("usage"))
            case {"type": "message_stop"}:
                self._is_over = True
            case {"type": str(kind)} if kind not in _KNOWN:
                pass
            case _:
                raise not_the_protocol(self._server, expected="an event of the Messages API", found=json.dumps(data))

    def feed_whole(self, answer: JsonObject) -> Iterator[Delta]:
        """What the answer of a server that does not stream holds.

        Raises:
            ModelError: It reports an error, or is not of this protocol.
        """
        match answer:
            case {"type": "error"}:
                raise failure_of_event(self._server, answer.get("error"))
            case {"type": "message", "content": list(blocks)}:
                pass
            case _:
                raise not_the_protocol(self._server, expected="a message with 'content'", found=json.dumps(answer))
        for index, block in enumerate(blocks):
            yield from self.feed({"type": "content_block_start", "index": index, "content_block": block})
        self._count(answer.get("usage"))
        self._stop = {"stop_reason": answer.get("stop_reason") or "end_turn"}
        self._stop["stop_details"] = answer.get("stop_details")

    def end(self) -> None:
        """This protocol has an event of its own for the end of a stream."""

    def close(self) -> ModelReply:
        """The whole answer.

        Raises:
            ModelError: It is not complete, or the provider refused it.
        """
        stop_reason = self._stop.get("stop_reason")
        if not stop_reason:
            raise ProviderError(
                f"The stream of {self._server.address} ended before the answer did. The answer so far is not used.",
                is_transient=True,
            )
        if stop_reason == _REFUSED:
            raise ContentFilterError(_refusal_text(self._server, self._stop.get("stop_details")))
        was_cut = stop_reason in _CUT
        usage = Usage(
            input_tokens=sum(self._usage.get(name, 0) for name in _INPUT_FIELDS),
            output_tokens=self._usage.get("output_tokens", 0),
            requests=1,
            cached_input_tokens=self._usage.get("cache_read_input_tokens", 0),
        )
        message = Message(role="assistant", parts=tuple(self._parts(was_cut=was_cut)))
        return ModelReply(message=message, usage=usage, finish="length" if was_cut else "stop")

    def rest(self) -> Iterable[Delta]:
        """Everything has been told as it came."""
        return ()

    def _start(self, index: int, block: _Object) -> Iterator[Delta]:
        started = _Block(
            kind=str(block.get("type")),
            id=_text(block.get("id")) or None,
            name=_text(block.get("name")),
            input=block.get("input"),
            signature=_text(block.get("signature")) or _text(block.get("data")),
        )
        if started.kind == "tool_use":
            started.place = sum(block.kind == "tool_use" for block in self._blocks.values())
            given = json.dumps(started.input) if started.input else ""
            yield CallDelta(index=started.place, name=started.name or None, arguments=given)
        self._blocks[index] = started
        yield from _grown(started, _text(block.get("text")) or _text(block.get("thinking")))

    def _grow(self, index: int, delta: _Object) -> Iterator[Delta]:
        block = self._blocks.get(index)
        if block is None:
            raise not_the_protocol(
                self._server, expected="a block to start before it grows", found=f"block {index}: {json.dumps(delta)}"
            )
        block.signature += _text(delta.get("signature"))
        piece = _text(delta.get("text")) or _text(delta.get("thinking")) or _text(delta.get("partial_json"))
        yield from _grown(block, piece)

    def _count(self, usage: object) -> None:
        # The counts are running totals, so the latest one of each is right.
        fields = cast("_Object", usage) if isinstance(usage, dict) else {}
        for name in (*_INPUT_FIELDS, "output_tokens"):
            if fields.get(name) is not None:
                self._usage[name] = token_count(fields[name])

    def _parts(self, *, was_cut: bool) -> Iterator[Part]:
        last = max(self._blocks, default=0)
        for index, block in sorted(self._blocks.items()):
            match block.kind:
                case "text" if block.text:
                    yield TextPart(text=block.text)
                case "thinking" if block.text or block.signature:
                    yield ReasoningPart(text=block.text, signature=block.signature or None)
                case "redacted_thinking":
                    yield ReasoningPart(text="", signature=REDACTED + block.signature)
                case "tool_use":
                    call_id = unique_id(block.id, self._taken_ids)
                    self._taken_ids.add(call_id)
                    yield read_streamed_call(
                        call_id=call_id,
                        name=block.name,
                        arguments=block.arguments,
                        provider_id=block.id,
                        was_cut=was_cut and index == last,
                    )
                case _:
                    pass  # blocks of tools that run at the provider, which are never asked for


_KNOWN = ("message_start", "content_block_start", "content_block_delta", "message_delta")


def _grown(block: _Block, piece: str) -> Iterator[Delta]:
    if not piece:
        return
    block.pieces.append(piece)
    if block.kind == "text":
        yield TextDelta(text=piece)
    elif block.kind == "thinking":
        yield ReasoningDelta(text=piece)
    elif block.kind == "tool_use":
        yield CallDelta(index=block.place, arguments=piece)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _refusal_text(server: ServerFacts, details: object) -> str:
    fields = cast("_Object", details) if isinstance(details, dict) else {}
    why = _text(fields.get("explanation")) or _text(fields.get("category"))
    reason = f" ({why})" if why else ""
    return f"{server.address} declined to answer{reason}. The answer so far is not used; change the request."
