"""Rows as tokens: the conversation as the family writes it, and which tokens are the model's own.

Where its words stand is known from the format's definition (`ChatFormat.render_with_spans`). Law: a token is learned
from only if it lies wholly in a reply that is learned from or in the mark that ends it; and the tokens of such a reply
decode to exactly their part of the text. Law: `input_ids` are those of the whole text. They are made here and are not
the provider's, so `tokens_exact` is false. Deliberately not here: log-probabilities, which nobody has recorded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from wieldy.core.calls import AnyCall, ToolCall
from wieldy.core.errors import UsageError
from wieldy.core.extras import installing
from wieldy.core.messages import Message
from wieldy.evals.export.row import Row
from wieldy.formats.format import ChatFormat
from wieldy.formats.turns.parts import ReplySpan

IGNORED: Final = -100
"""The label of a token that is not learned from."""


class TokenColumns:
    """Makes the columns of tokens.

    Args:
        chat_format: How the model writes.
        file: Its `tokenizer.json`.

    Raises:
        UsageError: The file is none, or what reads it is not installed.
    """

    def __init__(self, chat_format: ChatFormat, file: Path) -> None:
        self._format = chat_format
        self._tokenizer = _read(file)

    def of(self, row: Row) -> dict[str, Any]:
        """The columns: `input_ids`, `labels`, `assistant_masks`, `completion_mask`, `tokens_exact`.

        Raises:
            UsageError: The format cannot carry the conversation, or the vocabulary cannot carry its text.
        """
        text, spans = self._format.render_with_spans(row.source, row.definitions)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise UsageError("The text has half a character in it.") from error
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        ids, places = list[int](encoded.ids), list[tuple[int, int]](encoded.offsets)
        mask = [0] * len(ids)
        for span in spans:
            if row.train[span.message] and self._is_as_written(row.source[span.message], row):
                self._mark(mask, ids, places, (span, text))
        if not any(mask):
            raise UsageError("No token of it can be learned from.")
        first = next((span.start for span in spans if row.untrained[span.message] != "given"), len(text))
        return {
            "input_ids": ids,
            "labels": [token if own else IGNORED for token, own in zip(ids, mask, strict=True)],
            "assistant_masks": mask,
            "completion_mask": [int(start >= first) for start, _ in places],
            "tokens_exact": False,
        }

    def _is_as_written(self, message: Message, row: Row) -> bool:
        """Whether the rendering has the model's words unchanged.

        A control token within them is taken apart there, and some formats put arguments in the order of the schema.
        """
        plain = self._format.turns.plain
        if plain(message.text) != message.text or plain(message.reasoning) != message.reasoning:
            return False
        if not message.calls:
            return True
        reply = self._format.parse(self._format.render_reply(message, row.definitions), row.definitions, prompt="")
        return _in_order(reply.calls) == _in_order(message.calls)

    def _mark(
        self, mask: list[int], ids: Sequence[int], places: Sequence[tuple[int, int]], where: tuple[ReplySpan, str]
    ) -> None:
        span, text = where
        own = [at for at, (start, end) in enumerate(places) if span.start <= start < end <= span.end]
        if not own:
            return
        meant = text[places[own[0]][0] : places[own[-1]][1]]
        if self._tokenizer.decode([ids[at] for at in own], skip_special_tokens=False) != meant:
            raise UsageError("The vocabulary does not carry a reply's text unchanged.")
        for at in own:
            mask[at] = 1


def _in_order(calls: Sequence[AnyCall]) -> list[str]:
    """The arguments as text, which differs where only their order does."""
    return [json.dumps(call.arguments) for call in calls if isinstance(call, ToolCall)]


def _read(file: Path) -> Any:
    try:
        import tokenizers  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise UsageError(f"--tokenizer needs a package: {installing('export')}.") from error
    try:
        # Offsets are to be those of the whole tokens: a template for pairs of texts would trim or add to them.
        vocabulary: Any = tokenizers.Tokenizer.from_file(str(file))
        vocabulary.post_processor = None
    except Exception as error:  # the package raises nothing narrower
        raise UsageError(
            f"{file}: expected a tokenizer.json, as models bring one, found something else: {error}"
        ) from error
    vocabulary.no_truncation()
    vocabulary.no_padding()
    return vocabulary
