"""A model's own chat template: messages as the text that the model was trained on.

Templates come with the weights and are other people's programs, so they run in Jinja's sandbox. Control tokens, such as
the one that ends a turn, are the template's to write: in a message, and so in a tool's result, they are only text.
Deliberately not here: reading what a model writes back.
Source: the conventions of `apply_chat_template` (Hugging Face transformers).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from wieldy.core.errors import ModelNotAvailableError, UsageError
from wieldy.core.messages import Message

_CONTROL: Final = 3
"""The type of control tokens in a GGUF vocabulary."""

_FAILURES: Final = (TemplateError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a template raises that refuses its messages, or was written for others."""


class ChatTemplate:
    """A compiled template.

    Args:
        source: Jinja source, as it stands in the weights.
        end_token: The text of the token that ends a turn; some templates write it themselves.
        control_tokens: The texts that mean more than their letters to the model.

    Raises:
        ModelNotAvailableError: It is no valid template.
    """

    def __init__(self, source: str, *, end_token: str = "", control_tokens: Collection[str] = ()) -> None:
        environment: Any = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _to_json
        try:
            self._template = environment.from_string(source, {"raise_exception": _refuse, "strftime_now": _now})
        except TemplateError as error:
            raise ModelNotAvailableError(f"The model's chat template cannot be read: {error}.") from error
        self._end_token = end_token
        self._control_starts = _starts(control_tokens)

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> ChatTemplate:
        """The template in a GGUF file's metadata.

        Raises:
            ModelNotAvailableError: There is none: the weights are not those of a chat model.
        """
        source = metadata.get("tokenizer.chat_template")
        if not isinstance(source, str):
            raise ModelNotAvailableError(
                "The model file has no chat template, so it is not a model that can be talked to. "
                "Use the instruction-tuned ('Instruct') variant of the model."
            )
        tokens, kinds = _list(metadata, "tokenizer.ggml.tokens"), _list(metadata, "tokenizer.ggml.token_type")
        end = metadata.get("tokenizer.ggml.eos_token_id")
        return cls(
            source,
            end_token=str(tokens[end]) if isinstance(end, int) and 0 <= end < len(tokens) else "",
            control_tokens=[str(token) for token, kind in zip(tokens, kinds, strict=False) if kind == _CONTROL],
        )

    def plain(self, text: str) -> str:
        """The text with a space in every control token, so that the model reads letters and obeys nothing.

        Halves of surrogate pairs, which are no text and which no engine takes, become question marks.
        """
        text = text.encode("utf-8", "replace").decode()
        return self._control_starts.sub(r"\g<0> ", text)

    def render(self, messages: Sequence[Message], *, begun: str = "") -> str:
        """The conversation as text, up to where the assistant's next words begin, and those that it has `begun` with.

        A template that knows no system role gets the system message as the beginning of the first user message.

        Raises:
            UsageError: The template refuses these messages.
        """
        written = [{"role": message.role, "content": self.plain(message.text)} for message in messages]
        try:
            return self._render(written) + self.plain(begun)
        except _FAILURES as error:
            if len(written) < 2 or written[0]["role"] != "system":
                raise UsageError(f"The model's chat template refuses these messages: {error}.") from error
            system, first = written[0]["content"], written[1]["content"]
            merged = [{"role": "user", "content": f"{system}\n\n{first}"}, *written[2:]]
        try:
            return self._render(merged) + self.plain(begun)
        except _FAILURES as error:
            raise UsageError(f"The model's chat template refuses these messages: {error}.") from error

    def _render(self, messages: Sequence[Mapping[str, str]]) -> str:
        # llama.cpp puts the beginning-of-text token there itself.
        return self._template.render(
            messages=messages, add_generation_prompt=True, bos_token="", eos_token=self._end_token
        )


def _starts(tokens: Collection[str]) -> re.Pattern[str]:
    """The first character wherever one of the tokens begins, within another one too."""
    longer = [re.escape(token) for token in tokens if len(token) > 1]
    return re.compile(f"(?=(?:{'|'.join(longer)}))." if longer else r"(?!)", re.DOTALL)


def _list(metadata: Mapping[str, Any], key: str) -> list[object]:
    value = metadata.get(key)
    return cast("list[object]", value) if isinstance(value, list) else []


def _to_json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> None:
    raise TemplateError(message)


def _now(layout: str) -> str:
    return datetime.now().strftime(layout)
