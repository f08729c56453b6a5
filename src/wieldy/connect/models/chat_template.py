"""The chat template in a model file's metadata, with the tokens that it and its readers must know.

Deliberately not here: running templates (`template_process`), reading the file (`gguf`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from wieldy.connect.models.template_process import TemplateSource
from wieldy.core.errors import ModelNotAvailableError

_CONTROL: Final = 3
"""The type of control tokens in a GGUF vocabulary."""


def template_in(metadata: Mapping[str, Any]) -> TemplateSource:
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
    # No `bos_token`: llama.cpp puts the beginning-of-text token there itself.
    end_token = str(tokens[end]) if isinstance(end, int) and 0 <= end < len(tokens) else ""
    return TemplateSource(
        text=source,
        tokens={"eos_token": end_token},
        control_tokens=[str(token) for token, kind in zip(tokens, kinds, strict=False) if kind == _CONTROL],
    )


def _list(metadata: Mapping[str, Any], key: str) -> list[object]:
    value = metadata.get(key)
    return cast("list[object]", value) if isinstance(value, list) else []
