"""The JSON of answers, whole and in chunks. Pure.

Law: the deltas of the chunks, joined, are the message of the whole answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wieldy.core.events import ReasoningDelta, TextDelta
from wieldy.core.json import JsonObject, JsonValue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wieldy.connect.serving.chat.answering import Answer, Piece
    from wieldy.connect.serving.chat.vetting import SentCall
    from wieldy.core.limits import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """What every object of one answer begins with.

    Attributes:
        created: Seconds since the epoch.
        fingerprint: What answers.
        warnings: What of the request was not used or was changed.
    """

    id: str
    created: int
    model: str
    fingerprint: str
    warnings: tuple[str, ...] = ()

    def whole(self, pieces: Iterable[Piece], answer: Answer) -> JsonObject:
        """The answer in one object."""
        told = tuple(pieces)
        text = "".join(piece.text for piece in told if isinstance(piece, TextDelta))
        reasoning = "".join(piece.text for piece in told if isinstance(piece, ReasoningDelta))
        message: JsonObject = {"role": "assistant", "content": text or (None if answer.calls else ""), "refusal": None}
        if reasoning:
            message["reasoning_content"] = reasoning
        if answer.calls:
            message["tool_calls"] = [_call(call_id, call) for call_id, call in answer.calls]
        choice: JsonObject = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": answer.right.finish,
        }
        return self._object("chat.completion", [choice], answer) | {"usage": usage_to_json(answer.progress.usage)}

    def first(self) -> JsonObject:
        """The chunk before all others."""
        return self._chunk({"role": "assistant", "content": ""})

    def piece(self, piece: Piece) -> JsonObject:
        """The chunk of a piece of text or reasoning."""
        name = "content" if isinstance(piece, TextDelta) else "reasoning_content"
        return self._chunk({name: piece.text})

    def last(self, answer: Answer, *, has_usage: bool) -> Iterator[JsonObject]:
        """The chunks after the pieces: the calls, one each, how it ended, and what was used if that was asked for."""
        for index, (call_id, call) in enumerate(answer.calls):
            made: JsonObject = {"index": index, **_call(call_id, call)}
            yield self._chunk({"tool_calls": [made]})
        yield self._chunk({}, finish=answer.right.finish, answer=answer)
        if has_usage:
            yield self._object("chat.completion.chunk", []) | {"usage": usage_to_json(answer.progress.usage)}

    def _chunk(self, delta: JsonObject, *, finish: str | None = None, answer: Answer | None = None) -> JsonObject:
        choice: JsonObject = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._object("chat.completion.chunk", [choice], answer)

    def _object(self, kind: str, choices: list[JsonValue], answer: Answer | None = None) -> JsonObject:
        remarks = {} if answer is None else self._remarks(answer)
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "system_fingerprint": self.fingerprint,
            "choices": choices,
            **({"wieldy": remarks} if remarks else {}),
        }

    def _remarks(self, answer: Answer) -> JsonObject:
        """What the protocol has no field for; empty for an answer that came as it was asked for."""
        right = answer.right
        remarks: JsonObject = {
            "warnings": [*self.warnings, *right.warnings],
            "retries": answer.progress.retries,
            "repairs": list(right.repairs),
            "forced": list(right.forced),
        }
        return {name: value for name, value in remarks.items() if value}


def usage_to_json(usage: Usage) -> JsonValue:
    """What was used; None where the model does not say."""
    if not usage.input_tokens and not usage.output_tokens:
        return None
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens},
    }


def _call(call_id: str, call: SentCall) -> JsonObject:
    return {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
