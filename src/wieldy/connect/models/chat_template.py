"""A model's own chat template: messages as the text that the model was trained on.

Templates come with the weights and are other people's programs, so they run in Jinja's sandbox.
Deliberately not here: reading what a model writes back.
Source: the conventions of `apply_chat_template` (Hugging Face transformers).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from wieldy.core.errors import ModelNotAvailableError, UsageError
from wieldy.core.messages import Message


class ChatTemplate:
    """A compiled template.

    Args:
        source: Jinja source, as it stands in the weights.
        end_token: The text of the token that ends a turn; some templates write it themselves.

    Raises:
        ModelNotAvailableError: It is no valid template.
    """

    def __init__(self, source: str, *, end_token: str = "") -> None:
        environment: Any = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _to_json
        try:
            self._template = environment.from_string(source, {"raise_exception": _refuse, "strftime_now": _now})
        except TemplateError as error:
            raise ModelNotAvailableError(f"The model's chat template cannot be read: {error}.") from error
        self._end_token = end_token

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
        tokens: list[str] = metadata.get("tokenizer.ggml.tokens") or []
        end = metadata.get("tokenizer.ggml.eos_token_id")
        return cls(source, end_token=tokens[end] if isinstance(end, int) and end < len(tokens) else "")

    def render(self, messages: Sequence[Message]) -> str:
        """The conversation as text, up to where the assistant's next words begin.

        A template that knows no system role gets the system message as the beginning of the first user message.

        Raises:
            UsageError: The template refuses these messages.
        """
        written = [{"role": message.role, "content": message.text} for message in messages]
        try:
            return self._render(written)
        except (TemplateError, TypeError, ValueError) as error:
            if len(written) < 2 or written[0]["role"] != "system":
                raise UsageError(f"The model's chat template refuses these messages: {error}.") from error
            system, first = written[0]["content"], written[1]["content"]
            merged = [{"role": "user", "content": f"{system}\n\n{first}"}, *written[2:]]
        try:
            return self._render(merged)
        except (TemplateError, TypeError, ValueError) as error:
            raise UsageError(f"The model's chat template refuses these messages: {error}.") from error

    def _render(self, messages: Sequence[Mapping[str, str]]) -> str:
        # llama.cpp puts the beginning-of-text token there itself.
        return self._template.render(
            messages=messages, add_generation_prompt=True, bos_token="", eos_token=self._end_token
        )


def _to_json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> None:
    raise TemplateError(message)


def _now(layout: str) -> str:
    return datetime.now().strftime(layout)
